//! Patterns of URLs: exact, or with `*` for any text.

/// A pattern of URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether it describes a text. Each part between stars is looked for where the one before
    /// it ends, so that no text is gone through twice.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut left) = text.strip_prefix(first) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return left.is_empty();
        };
        for part in parts {
            match left.find(part) {
                Some(at) => left = &left[at + part.len()..],
                None => return false,
            }
        }
        left.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, expected) in [
            ("https://a/b", "https://a/b", true),
            ("https://a/b", "https://a/bc", false),
            ("https://a/*", "https://a/", true),
            ("https://a/*", "https://a/x/y?z=1", true),
            ("*", "", true),
            ("*/users/*", "https://a/users/7", true),
            ("*/users/*", "https://a/users", false),
            ("*a*a", "a", false),
            ("*a*a", "aa", true),
            ("a*a", "a", false),
            ("**", "x", true),
            ("", "", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(text),
                expected,
                "{pattern} {text}"
            );
        }
    }
}
