//! The two parts of a `SKILL.md`: YAML between `---` lines, and the text after it.

/// The front matter of a file, if it has one, and the body. A `---` line inside the body
/// belongs to the body.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = after_rule(text) else {
        return (None, text);
    };
    let mut at = 0;
    while at < rest.len() {
        if let Some(body) = after_rule(&rest[at..]) {
            return (Some(&rest[..at]), body);
        }
        match rest[at..].find('\n') {
            Some(end) => at += end + 1,
            None => break,
        }
    }
    (None, text)
}

/// What follows a text's first line, if that is `---`.
fn after_rule(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end() == "---").then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_two_parts() {
        let rows = [
            (
                "---\na: 1\n---\nBody\n---\nmore",
                Some("a: 1\n"),
                "Body\n---\nmore",
            ),
            ("---\r\na: 1\r\n---\r\nBody", Some("a: 1\r\n"), "Body"),
            ("---\n---", Some(""), ""),
            ("\u{feff}---\n---\nx", Some(""), "x"),
            ("Body", None, "Body"),
            ("---\na: 1\n", None, "---\na: 1\n"),
            ("", None, ""),
            ("----\n---\n", None, "----\n---\n"),
        ];
        for (text, front, body) in rows {
            assert_eq!(split(text), (front, body), "{text:?}");
        }
    }
}
