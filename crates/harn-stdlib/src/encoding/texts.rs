//! Encodings of texts.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use harn_machine::{Failure, Fault, Registry, Value};

use super::arguments::Octets;
use super::{base32, hex, url};
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("base32_decode", |_, arguments| {
            decoded("base32", arguments, base32::decode)
        }),
        ("base32_encode", |_, arguments| {
            Ok(base32::encode(&Octets::given(arguments, 1)).into())
        }),
        ("base64_decode", |_, arguments| {
            decoded("base64", arguments, from_base64)
        }),
        ("base64_encode", |_, arguments| {
            Ok(STANDARD.encode(Octets::given(arguments, 1)).into())
        }),
        ("base64url_decode", |_, arguments| {
            decoded("base64url", arguments, from_base64_url)
        }),
        ("base64url_encode", |_, arguments| {
            Ok(URL_SAFE_NO_PAD.encode(Octets::given(arguments, 1)).into())
        }),
        ("hex_decode", |_, arguments| {
            decoded("hex", arguments, hex::decode)
        }),
        ("hex_encode", |_, arguments| {
            Ok(hex::encode(&Octets::given(arguments, 1)).into())
        }),
        ("url_decode", |_, arguments| {
            Ok(url::decode(&text(arguments, 0)).into())
        }),
        ("url_encode", |_, arguments| {
            Ok(url::encode(&text(arguments, 0)).into())
        }),
    ]);
}

/// The text that is encoded; what is no text in it is marked.
fn decoded(
    encoding: &str,
    arguments: &[Value],
    decode: fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Value, Failure> {
    match decode(&text(arguments, 0)) {
        Ok(octets) => Ok(String::from_utf8_lossy(&octets).into_owned().into()),
        Err(reason) => Err(Fault::runtime(format!("{encoding} decode error: {reason}"))),
    }
}

/// The octets of a text in Base64.
pub(super) fn from_base64(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| error.to_string())
}

fn from_base64_url(text: &str) -> Result<Vec<u8>, String> {
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|error| error.to_string())
}
