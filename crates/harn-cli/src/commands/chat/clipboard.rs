//! Copies to the clipboard of the person, wherever the terminal is.
//!
//! The terminal is asked to do it (OSC 52), so it works over ssh and inside of tmux, if that
//! has `set-clipboard on`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What some terminals take at most, before it is encoded.
const BYTES_MAX: usize = 74_000;

/// What asks a terminal to take a text into the clipboard, and whether that is all of it.
pub(super) fn copying(text: &str) -> (String, bool) {
    let mut end = text.len().min(BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let encoded = STANDARD.encode(&text[..end]);
    (format!("\u{1b}]52;c;{encoded}\u{7}"), end == text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_encoded_and_has_a_bound() {
        assert_eq!(
            copying("Hello"),
            ("\u{1b}]52;c;SGVsbG8=\u{7}".to_owned(), true)
        );
        let (sequence, is_all) = copying(&"ä".repeat(BYTES_MAX));
        assert!(!is_all && sequence.len() < 100_000);
    }
}
