//! "Did you mean …?"

use harn_options::nearest;

/// How far apart two names may be for one to be suggested for the other.
const DISTANCE_MAX: usize = 2;

/// The first of the closest candidates, if any is close.
pub(crate) fn suggest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    nearest(name, DISTANCE_MAX, candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(suggest(name, candidates.iter().copied()), expected);
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
