//! "Did you mean …?" for names that a running program does not find.

use harn_check::distance_within;

/// The best of the candidates that are close: the nearest, then the one whose length is
/// closest, then the first of the alphabet.
pub(crate) fn suggest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = match name.len() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let written: Vec<char> = name.chars().collect();
    let visible = candidates.filter(|candidate| !candidate.starts_with("__"));
    let close = visible.filter_map(|candidate| {
        let distance = distance_within(&written, candidate, limit)?;
        Some((distance, candidate.len().abs_diff(name.len()), candidate))
    });
    close.min().map(|(_, _, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(suggest(name, candidates.iter().copied()), expected);
    }

    #[test]
    fn the_nearest_name_is_suggested_then_the_closest_length_then_the_alphabet() {
        check("_", &["pi", "e"], Some("e"));
        check("nmae", &["name", "mae"], Some("mae"));
        check("counte", &["counted", "count", "countx"], Some("countx"));
        check("ab", &["ay", "ax"], Some("ax"));
    }

    #[test]
    fn how_far_a_suggestion_may_be_depends_on_the_length_of_the_name() {
        check("ab", &["cd"], None);
        check("abc", &["abxyz", "axy"], Some("axy"));
        check("abcdef", &["abcxyz"], Some("abcxyz"));
        check("abcdef", &["abwxyz"], None);
        check("naem", &["__name"], None);
    }
}
