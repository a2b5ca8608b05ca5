//! Compares what a command printed with what the page shows.

/// Stands for any number of lines, also none; inside a line, for any text.
const ANYTHING: &str = "…";

/// Whether the lines agree. White space at the end of lines and empty lines at
/// the end do not matter, because nobody can see them on a page.
pub(super) fn agrees(expected: &str, actual: &str) -> bool {
    matches(&visible(expected), &visible(actual))
}

fn visible(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Walks both lists once. On a mismatch we return to the last `…` and let it
/// swallow one line more; earlier ones never need a second try.
fn matches(expected: &[&str], actual: &[&str]) -> bool {
    let (mut next, mut line) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while line < actual.len() {
        if expected.get(next) == Some(&ANYTHING) {
            retry = Some((next + 1, line));
            next += 1;
        } else if expected
            .get(next)
            .is_some_and(|one| fits(one, actual[line]))
        {
            next += 1;
            line += 1;
        } else if let Some((after, swallowed)) = retry {
            retry = Some((after, swallowed + 1));
            next = after;
            line = swallowed + 1;
        } else {
            return false;
        }
    }
    expected[next..].iter().all(|rest| *rest == ANYTHING)
}

/// Whether a line is as the page shows it: the texts around `…` occur in their order, the first
/// one at the start and the last one at the end.
fn fits(expected: &str, actual: &str) -> bool {
    let Some((start, rest)) = expected.split_once(ANYTHING) else {
        return expected == actual;
    };
    let Some(mut left) = actual.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split(ANYTHING).collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::agrees;

    #[test]
    fn equal_text_agrees_whatever_its_trailing_white_space() {
        assert!(agrees("a\nb", "a  \nb\n\n"));
        assert!(agrees("", "\n"));
    }

    #[test]
    fn a_missing_added_or_different_line_disagrees() {
        assert!(!agrees("a\nb", "a"));
        assert!(!agrees("a", "a\nb"));
        assert!(!agrees("a", "b"));
        assert!(!agrees("", "a"));
    }

    #[test]
    fn leading_white_space_is_part_of_the_output() {
        assert!(!agrees("a", "  a"));
    }

    #[test]
    fn dots_stand_for_any_number_of_lines() {
        assert!(agrees("a\n…\nd", "a\nb\nc\nd"));
        assert!(agrees("a\n…\nd", "a\nd"));
        assert!(agrees("…", "a\nb"));
        assert!(agrees("…", ""));
        assert!(agrees("…\nx\n…\ny", "x\n1\nx\n2\nx\ny"));
    }

    #[test]
    fn dots_inside_a_line_stand_for_any_text() {
        assert!(agrees("took … ms, … in all", "took 12 ms, 3 in all"));
        assert!(agrees("id-…", "id-5f"));
        assert!(!agrees("id-…", "no id-5f"));
        assert!(!agrees("… ms", "12 s"));
        assert!(!agrees("a … b … c", "a c b"));
        // A page may show dots that a program really prints.
        assert!(agrees("one …", "one …"));
    }

    #[test]
    fn what_follows_the_dots_must_still_come() {
        assert!(!agrees("a\n…\nd", "a\nb\nc"));
        assert!(!agrees("a\n…\nd", "a\nd\ne"));
    }
}
