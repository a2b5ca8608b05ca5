//! What bodies expect of their arguments.
//!
//! Where text is wanted, whatever is passed is shown as text; where a number is wanted,
//! anything else counts as missing.

use harn_machine::value::Text;
use harn_machine::{Value, argument};

/// An argument as text; `""` if it is missing.
pub(crate) fn text(arguments: &[Value], at: usize) -> Text {
    match arguments.get(at) {
        Some(value) => value.to_text(),
        None => Text::new(""),
    }
}

/// An argument as text; `fallback` if it is missing.
pub(crate) fn text_or(arguments: &[Value], at: usize, fallback: &str) -> Text {
    match arguments.get(at) {
        Some(value) => value.to_text(),
        None => Text::new(fallback),
    }
}

/// An argument that is a number, as an int.
pub(crate) fn int(arguments: &[Value], at: usize) -> Option<i64> {
    match argument(arguments, at) {
        Value::Int(number) => Some(*number),
        Value::Float(number) => Some(*number as i64),
        _ => None,
    }
}

/// An argument that is a number, as an int; `fallback` if it is none.
pub(crate) fn int_or(arguments: &[Value], at: usize, fallback: i64) -> i64 {
    int(arguments, at).unwrap_or(fallback)
}

/// A count that cannot be negative; nothing in memory has more parts than an int can count.
pub(crate) fn count(number: i64) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

/// A number as a float.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}
