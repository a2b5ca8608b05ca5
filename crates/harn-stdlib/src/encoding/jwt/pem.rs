//! Keys as text: octets in Base64 between two lines that say what they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What the first part of a text in PEM is and holds. Lines may be of any length and indented,
/// because keys are often kept inside other texts.
pub(super) fn read(text: &str) -> Option<(&str, Vec<u8>)> {
    let (_, text) = text.split_once("-----BEGIN ")?;
    let (label, text) = text.split_once("-----")?;
    let (body, text) = text.split_once("-----END ")?;
    let is_whole = text.strip_prefix(label)?.starts_with("-----");
    let digits: String = body.split_ascii_whitespace().collect();
    let octets = STANDARD.decode(digits).ok()?;
    is_whole.then_some((label, octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_be_indented() {
        let text = "\n  -----BEGIN A KEY-----\n  aGVs\r\n  bG8=\n  -----END A KEY-----\n";
        assert_eq!(read(text), Some(("A KEY", b"hello".to_vec())));
    }

    #[test]
    fn what_is_no_pem_is_refused() {
        for text in [
            "",
            "aGVsbG8=",
            "-----BEGIN A-----",
            "-----BEGIN A-----\naGVsbG8=\n-----END B-----",
            "-----BEGIN A-----\n???\n-----END A-----",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
