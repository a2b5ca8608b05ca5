//! Literals in canonical form.

use crate::position::Span;
use crate::token::TokenKind;
use crate::tree::DurationLiteral;

/// Units of time with their milliseconds, the largest first.
const UNITS: [(&str, i64); 3] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)];

/// A duration in the largest unit that is exact. None at all is `0ms`.
pub(super) fn duration(literal: DurationLiteral, span: Span, text: &str) -> String {
    let DurationLiteral::Milliseconds(time) = literal else {
        return span.of(text).to_owned();
    };
    let exact = |(_, unit): &&(&str, i64)| time != 0 && time % unit == 0;
    match UNITS.iter().find(exact) {
        Some((name, unit)) => format!("{}{name}", time / unit),
        None => format!("{time}ms"),
    }
}

/// A float with its decimal point. There are no exponents; one too large to be a number is
/// kept as it is written.
pub(super) fn float(number: f64, span: Span, text: &str) -> String {
    let digits = number.to_string();
    match number.is_finite() {
        true if digits.contains('.') => digits,
        true => format!("{digits}.0"),
        false => span.of(text).to_owned(),
    }
}

/// Whether a text is an identifier, and no reserved word.
pub(super) fn is_identifier(text: &str) -> bool {
    is_word(text) && TokenKind::of_word(text).is_none()
}

/// Whether a text may stand as a key without quotes.
pub(super) fn is_key(text: &str) -> bool {
    is_word(text) && TokenKind::of_word(text).is_none_or(TokenKind::is_name)
}

fn is_word(text: &str) -> bool {
    let is_first = |first: char| first.is_alphabetic() || first == '_';
    let is_part = |part: char| part.is_alphanumeric() || part == '_';
    text.starts_with(is_first) && text.chars().all(is_part)
}
