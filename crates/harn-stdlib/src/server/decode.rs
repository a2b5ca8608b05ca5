//! Texts as they stand in URLs.

use harn_machine::value::{Dict, Text};

/// A part of a URL without its escapes. What is no escape stays as it is.
pub(super) fn decoded(part: &str) -> String {
    let part = part.as_bytes();
    let mut octets = Vec::with_capacity(part.len());
    let mut at = 0;
    while let Some(octet) = part.get(at) {
        let escaped = match octet {
            b'%' => part.get(at + 1..at + 3).and_then(hex),
            _ => None,
        };
        octets.push(match (escaped, octet) {
            (Some(escaped), _) => escaped,
            (None, b'+') => b' ',
            (None, octet) => *octet,
        });
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&octets).into_owned()
}

/// The octet that two digits stand for.
fn hex(digits: &[u8]) -> Option<u8> {
    let mut value = 0;
    for digit in digits {
        value = value * 16 + char::from(*digit).to_digit(16)?;
    }
    u8::try_from(value).ok()
}

/// The fields of a query or a form; a later one replaces an earlier one.
pub(super) fn form(query: &str) -> Dict {
    let mut fields = Dict::default();
    for field in query.split('&').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        fields.insert(Text::from(decoded(name)), decoded(value).into());
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_taken_away() {
        for (written, meant) in [
            ("a+b%20c", "a b c"),
            ("%e4%bd%a0", "你"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%zz%41", "%zzA"),
            ("%ff", "\u{fffd}"),
            ("%+1", "% 1"),
        ] {
            assert_eq!(decoded(written), meant);
        }
    }
}
