//! Texts that stand in URLs.

use std::fmt::Write;

/// A text of which only letters, digits and `-_.~` are kept as they are.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for octet in text.bytes() {
        match octet {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(octet));
            }
            _ => write!(out, "%{octet:02X}").expect("a string takes all that is written to it"),
        }
    }
    out
}

/// The text of a part of a URL. What looks like an escape but is none is kept.
pub(crate) fn decode(text: &str) -> String {
    let digit = |octet: u8| {
        let digit = char::from(octet).to_digit(16)?;
        u8::try_from(digit).ok()
    };
    let mut octets = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let [first, rest @ ..] = left {
        left = rest;
        octets.push(match (first, rest) {
            (b'+', _) => b' ',
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    left = after;
                    high << 4 | low
                }
                _ => b'%',
            },
            (octet, _) => *octet,
        });
    }
    String::from_utf8_lossy(&octets).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_read_again() {
        assert_eq!(encode("aZ09-_.~ é/+"), "aZ09-_.~%20%C3%A9%2F%2B");
        for (text, expected) in [
            ("a%20b+c", "a b c"),
            ("%c3%A9", "é"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
