//! "Did you mean …?"

/// How far a misspelt name may be from the one that was meant, as the language has it for names
/// at run time.
pub(crate) fn reach(name: &str) -> usize {
    match name.len() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    }
}

/// How many letters a slip of the hand changes.
pub(crate) fn slip(name: &str) -> usize {
    match name.len() {
        0..=5 => 1,
        _ => 2,
    }
}

/// The first of the closest candidates, if any is within the limit.
pub fn nearest<'a>(
    name: &str,
    limit: usize,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let written: Vec<char> = name.chars().collect();
    let reach = limit;
    let mut best = None;
    let mut limit = limit;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > reach {
            continue;
        }
        let Some(distance) = distance_within(&written, candidate, limit) else {
            continue;
        };
        best = Some(candidate);
        let Some(closer) = distance.checked_sub(1) else {
            break;
        };
        limit = closer;
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
    fn the_first_of_the_closest_is_the_nearest() {
        let near = |name: &str, candidates: &[&'static str]| {
            nearest(name, reach(name), candidates.iter().copied())
        };
        assert_eq!(near("ab", &["ax", "ay"]), Some("ax"));
        assert_eq!(near("ab", &["abc", "ab"]), Some("ab"));
        assert_eq!(near("kitten", &["sitting"]), Some("sitting"));
        assert_eq!(near("kit", &["kitten"]), None);
    }
}
