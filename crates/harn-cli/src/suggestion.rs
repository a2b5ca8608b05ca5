//! "Did you mean …?"

/// The candidate that was probably meant. A word may differ in a third of its
/// letters; beyond that a suggestion puzzles more than it helps.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let tolerance = (word.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters have to be added, removed or changed to get from one word to
/// the other: the Levenshtein distance, one row of the table at a time.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.chars().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[row.len() - 1]
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
            assert_eq!(distance(from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn the_closest_word_wins_and_a_stranger_gets_none() {
        let words = ["tool_call", "tool_call_update", "plan"];
        let closest = |word| closest(word, words.into_iter());
        assert_eq!(closest("toolcall"), Some("tool_call"));
        assert_eq!(closest("tool_call_updated"), Some("tool_call_update"));
        assert_eq!(closest("pln"), Some("plan"));
        assert_eq!(closest("banana"), None);
        assert_eq!(closest(""), None);
    }
}
