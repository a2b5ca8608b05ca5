//! Long sentences on a terminal.

/// Columns of a page meant to be read. Fixed, so that a page looks the same
/// everywhere; programs ask for JSON.
const COLUMNS: usize = 80;

/// The text in lines that fit behind `indent` columns. A word that does not fit
/// has a line of its own.
pub(crate) fn wrap(text: &str, indent: usize) -> Vec<String> {
    let width = COLUMNS.saturating_sub(indent);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let length = word.chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + length <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_not_overfilled() {
        let text = "ab ".repeat(39);
        let lines = wrap(&text, 72);
        assert!(lines.iter().all(|line| line == "ab ab ab"), "{lines:?}");
        assert_eq!(wrap(&text, 73)[0], "ab ab");
    }

    #[test]
    fn a_long_word_has_a_line_of_its_own() {
        let long = "x".repeat(90);
        assert_eq!(wrap(&format!("a {long} b"), 4), ["a", &long, "b"]);
    }

    #[test]
    fn an_empty_text_has_no_lines() {
        assert!(wrap("  ", 0).is_empty());
    }
}
