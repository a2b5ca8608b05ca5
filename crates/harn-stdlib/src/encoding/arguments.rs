//! What the functions here expect of their arguments, which are numbered from 1, as messages
//! number them.

use std::ops::Deref;

use harn_machine::value::{Bytes, Text};
use harn_machine::{Failure, Fault, Value};

/// Octets of a value, without a copy of them.
pub(crate) enum Octets {
    /// They are a value of their own.
    Bytes(Bytes),
    /// They are those of a text.
    Text(Text),
}

impl Octets {
    /// The octets of a value: its own, or those of the text it is shown as.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Bytes(bytes) => Self::Bytes(bytes.clone()),
            value => Self::Text(value.to_text()),
        }
    }

    /// The octets of an argument; none if it is missing.
    pub(super) fn given(arguments: &[Value], number: usize) -> Self {
        match arguments.get(number - 1) {
            Some(value) => Self::of(value),
            None => Self::Text(Text::new("")),
        }
    }
}

impl Deref for Octets {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }
}

impl AsRef<[u8]> for Octets {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// An argument that is octets.
pub(super) fn bytes(function: &str, arguments: &[Value], number: usize) -> Result<Bytes, Failure> {
    match arguments.get(number - 1) {
        Some(Value::Bytes(bytes)) => Ok(bytes.clone()),
        _ => wrong(function, "bytes", arguments, number),
    }
}

/// An argument that is text.
pub(super) fn string(function: &str, arguments: &[Value], number: usize) -> Result<Text, Failure> {
    match arguments.get(number - 1) {
        Some(Value::Text(text)) => Ok(text.clone()),
        _ => wrong(function, "string", arguments, number),
    }
}

/// An argument that is an int.
pub(super) fn int(function: &str, arguments: &[Value], number: usize) -> Result<i64, Failure> {
    match arguments.get(number - 1) {
        Some(Value::Int(int)) => Ok(*int),
        _ => wrong(function, "int", arguments, number),
    }
}

/// An argument that is octets or text.
#[cfg(feature = "compression")]
pub(super) fn data(function: &str, arguments: &[Value], number: usize) -> Result<Octets, Failure> {
    match arguments.get(number - 1) {
        Some(value @ (Value::Bytes(_) | Value::Text(_))) => Ok(Octets::of(value)),
        _ => wrong(function, "bytes or string", arguments, number),
    }
}

fn wrong<T>(
    function: &str,
    wanted: &str,
    arguments: &[Value],
    number: usize,
) -> Result<T, Failure> {
    Err(Fault::runtime(match arguments.get(number - 1) {
        Some(value) => {
            let kind = value.type_name();
            format!("{function}: expected {wanted} at argument {number}, got {kind}")
        }
        None => format!("{function}: missing argument {number}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_are_told_by_number_and_kind() {
        let check = |failure: Failure, expected: &str| assert_eq!(failure.text(), expected);
        check(
            bytes("bytes_len", &[Value::Int(1)], 1).unwrap_err(),
            "Runtime error: bytes_len: expected bytes at argument 1, got int",
        );
        check(
            bytes("bytes_eq", &[Value::Nil], 2).unwrap_err(),
            "Runtime error: bytes_eq: missing argument 2",
        );
    }
}
