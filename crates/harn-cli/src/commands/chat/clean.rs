//! Text of models and tools, made harmless.
//!
//! A model can be told what to say by anybody whose text it has read, so nothing of it reaches
//! the terminal as it is. A sequence that would move the cursor, change the title or fill the
//! clipboard is shown in letters instead.

use crate::hidden::misleads;

/// What a tab becomes; where it stands in its line does not matter.
const TAB: &str = "    ";

/// The text without anything that a terminal would obey. Lines stay lines.
pub(super) fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => kept.push('\n'),
            '\t' => kept.push_str(TAB),
            // It would only go back to what is there already; nothing is hidden without it.
            '\r' => {}
            special if misleads(special) => {
                kept.extend(special.escape_default());
            }
            other => kept.push(other),
        }
    }
    kept
}

/// The same in one line.
pub(super) fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        let hostile = "a\u{1b}]52;c;ZXZpbA==\u{7}b\u{9b}2Jc\u{202e}d\u{90}e\u{7f}";
        let cleaned = clean(hostile);
        assert!(!cleaned.chars().any(char::is_control), "{cleaned:?}");
        assert!(!cleaned.contains('\u{202e}'));
        assert!(cleaned.starts_with("a\\u{1b}]52;c;"), "{cleaned}");
    }

    #[test]
    fn lines_tabs_and_letters_stay() {
        assert_eq!(clean("fn ä() {\r\n\tx\n}"), "fn ä() {\n    x\n}");
        assert_eq!(clean_line("a\nb"), "a b");
    }
}
