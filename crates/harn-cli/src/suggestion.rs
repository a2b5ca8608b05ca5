//! "Did you mean …?"

use harn_check::distance_within;

/// The candidate that was probably meant. A word may differ in a third of its
/// letters; beyond that a suggestion puzzles more than it helps.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().collect();
    let tolerance = (letters.len() / 3).max(1);
    candidates
        .filter_map(|candidate| {
            let distance = distance_within(&letters, candidate, tolerance)?;
            Some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
