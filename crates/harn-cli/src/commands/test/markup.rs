//! Text inside markup.

use std::fmt::Write;

/// Text as it stands in XML and HTML. Characters that they cannot hold at all are shown.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(char),
            '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => {
                let _to_a_string = write!(escaped, "{}", char.escape_default());
            }
            _ => escaped.push(char),
        }
    }
    escaped
}
