//! "Did you mean …?"

/// How far apart two names may be for one to be suggested for the other.
const DISTANCE_MAX: usize = 2;

/// The first of the closest candidates, if any is close.
pub(crate) fn suggest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let written: Vec<char> = name.chars().collect();
    let mut best = None;
    let mut limit = DISTANCE_MAX;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > DISTANCE_MAX {
            continue;
        }
        let Some(distance) = distance_within(&written, candidate, limit) else {
            continue;
        };
        best = Some(candidate);
        if distance == 0 {
            break;
        }
        limit = distance - 1;
    }
    best
}

/// The Levenshtein distance over characters, unless it is larger than the limit.
pub fn distance_within(from: &[char], to: &str, limit: usize) -> Option<usize> {
    // Each character takes four bytes at most, so what is out of reach is seen without counting.
    if from.len() > to.len() + limit || to.len() > 4 * (from.len() + limit) {
        return None;
    }
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (line, letter) in to.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        let mut least = row[0];
        for column in 1..row.len() {
            let replaced = diagonal + usize::from(from[column - 1] != letter);
            diagonal = row[column];
            row[column] = replaced.min(row[column - 1] + 1).min(diagonal + 1);
            least = least.min(row[column]);
        }
        if least > limit {
            return None;
        }
    }
    row.last().copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(suggest(name, candidates.iter().copied()), expected);
    }

    #[test]
    fn the_distance_counts_single_letters() {
        for (from, to, expected) in [
            ("", "", 0),
            ("plan", "plan", 0),
            ("", "plan", 4),
            ("plan", "", 4),
            ("plan", "plane", 1),
            ("paln", "plan", 2),
            ("kitten", "sitting", 3),
        ] {
            let from: Vec<char> = from.chars().collect();
            assert_eq!(distance_within(&from, to, expected), Some(expected), "{to}");
            let less = expected.checked_sub(1);
            let within = less.and_then(|less| distance_within(&from, to, less));
            assert_eq!(within, None, "{to}");
        }
    }

    #[test]
    fn the_first_of_the_closest_is_suggested() {
        check("lenght", &["len", "length", "lenghts"], Some("lenghts"));
        check("ab", &["ax", "ay"], Some("ax"));
        check("printn", &["print", "println"], Some("print"));
        check("Pont", &["Point"], Some("Point"));
    }

    #[test]
    fn nothing_is_suggested_that_is_further_than_two_changes() {
        check("abcdef", &["abcxyz", "abc"], None);
        check("kitten", &["sitting"], None);
        check("", &["abc"], None);
        check("a", &["é"], Some("é"));
    }
}
