//! Octets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::value::Bytes;
use harn_machine::{Context, Failure, Fault, Registry, Value};

use super::arguments::{bytes, int, string};
use super::texts::from_base64;
use super::{hex, is_equal};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("bytes_concat", bytes_concat),
        ("bytes_eq", bytes_eq),
        ("bytes_from_base64", |_, arguments| {
            read("bytes_from_base64", arguments, from_base64)
        }),
        ("bytes_from_hex", |_, arguments| {
            read("bytes_from_hex", arguments, hex::decode)
        }),
        ("bytes_from_string", |_, arguments| {
            read("bytes_from_string", arguments, |text| {
                Ok(text.as_bytes().to_vec())
            })
        }),
        ("bytes_len", |_, arguments| {
            Ok(bytes("bytes_len", arguments, 1)?.len().into())
        }),
        ("bytes_slice", bytes_slice),
        ("bytes_to_base64", |_, arguments| {
            Ok(STANDARD
                .encode(&*bytes("bytes_to_base64", arguments, 1)?)
                .into())
        }),
        ("bytes_to_hex", |_, arguments| {
            Ok(hex::encode(&bytes("bytes_to_hex", arguments, 1)?).into())
        }),
        ("bytes_to_string", bytes_to_string),
        ("bytes_to_string_lossy", |_, arguments| {
            let bytes = bytes("bytes_to_string_lossy", arguments, 1)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned().into())
        }),
    ]);
}

/// The octets that a text stands for.
fn read(
    function: &str,
    arguments: &[Value],
    decode: fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Value, Failure> {
    match decode(&string(function, arguments, 1)?) {
        Ok(octets) => Ok(Value::Bytes(Bytes::from(octets))),
        Err(reason) => Err(Fault::runtime(format!("{function}: {reason}"))),
    }
}

fn bytes_to_string(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let bytes = bytes("bytes_to_string", arguments, 1)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Fault::runtime(format!("bytes_to_string: {error}"))),
    }
}

fn bytes_concat(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let one = bytes("bytes_concat", arguments, 1)?;
    let other = bytes("bytes_concat", arguments, 2)?;
    Ok(Value::Bytes(Bytes::from([&*one, &*other].concat())))
}

fn bytes_eq(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let one = bytes("bytes_eq", arguments, 1)?;
    let other = bytes("bytes_eq", arguments, 2)?;
    Ok(is_equal(&one, &other).into())
}

fn bytes_slice(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let bytes = bytes("bytes_slice", arguments, 1)?;
    let bound = |number: usize| {
        let bound = int("bytes_slice", arguments, number);
        bound.map(|bound| crate::expect::count(bound).min(bytes.len()))
    };
    let (start, end) = (bound(2)?, bound(3)?);
    let slice = bytes.get(start..end).unwrap_or_default();
    Ok(Value::Bytes(Bytes::from(slice.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_hexadecimal_says_why() {
        let failure = read("bytes_from_hex", &["abc".into()], hex::decode);
        assert_eq!(
            failure.expect_err("a digit is missing").text(),
            "Runtime error: bytes_from_hex: Odd number of digits",
        );
    }
}
