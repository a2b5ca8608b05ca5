//! Patterns in which `*` stands for any text, also none.

/// Whether `text` fits `pattern`.
///
/// Each piece between two stars is taken at its first place; that is enough, because a star
/// before the next piece can always stretch over the rest.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// How much of a pattern is not a star; the more, the more it says.
pub(crate) fn weight(pattern: &str) -> usize {
    pattern.chars().filter(|letter| *letter != '*').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let rows = [
            ("claude-*", "claude-3", true),
            ("claude-*", "claude-", true),
            ("claude-*", "gpt-4o", false),
            ("gpt-4o", "gpt-4o", true),
            ("gpt-4o", "gpt-4o-mini", false),
            ("*", "", true),
            ("*qwen3*", "qwen/qwen3.5-9b", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*é*", "né", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn patterns_are_anchored_where_they_have_no_star() {
        let rows = [
            ("*", "", true),
            ("*", "anything\nat all", true),
            ("**", "x", true),
            ("hello", "hello", true),
            ("hello", "hello\nuser", false),
            ("", "", true),
            ("", "x", false),
            ("hello*", "hello\nuser", true),
            ("hello*", "oh hello", false),
            ("*user", "hello\nuser", true),
            ("*user", "user hello", false),
            ("*b*", "abc", true),
            ("*b*", "ac", false),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("ab*ba", "aba", false),
            ("*a*b*", "b a", false),
            ("*a*b*", "a b", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("*ab*ab", "xab", false),
            ("*é*", "café!", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(matches(pattern, text), expected, "{pattern:?} on {text:?}");
        }
    }
}
