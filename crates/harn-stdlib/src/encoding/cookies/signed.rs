//! Values that are signed, so that whoever keeps them cannot change them.
//!
//! ```text
//! cookie    value . signature of the value
//! session   v1 . base64url(JSON of the payload) . signature of the part before
//! ```

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use harn_machine::{Context, Failure, Registry, Value, argument};

use super::attributes::Attributes;
use super::parse::Cookies;
use super::serialize::serialized;
use super::{fail, header, require};
use crate::encoding::digests::hmac_sha256;
use crate::encoding::is_equal;
use crate::expect::text;
use crate::json;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("cookie_sign", cookie_sign),
        ("cookie_verify", cookie_verify),
        ("session_cookie", session_cookie),
        ("session_from_cookies", session_from_cookies),
        ("session_sign", session_sign),
        ("session_verify", session_verify),
    ]);
}

fn signature(secret: &str, message: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac_sha256(secret.as_bytes(), message.as_bytes()))
}

/// The signature is compared as text: another spelling of the same octets is another one.
fn is_signed(secret: &str, message: &str, given: &str) -> bool {
    is_equal(signature(secret, message).as_bytes(), given.as_bytes())
}

fn cookie_sign(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("cookie_sign", arguments, 2)?;
    let (value, secret) = (text(arguments, 0), text(arguments, 1));
    if value.contains(|letter: char| letter.is_control() || letter == ';') {
        return fail("cookie_sign value must not contain separators or control characters");
    }
    Ok(format!("{value}.{}", signature(&secret, &value)).into())
}

fn cookie_verify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("cookie_verify", arguments, 2)?;
    let (signed, secret) = (text(arguments, 0), text(arguments, 1));
    Ok(verdict(
        "value",
        match signed.rsplit_once('.') {
            None => Err("malformed"),
            Some((value, given)) if is_signed(&secret, value, given) => Ok(value.into()),
            Some(_) => Err("invalid_signature"),
        },
    ))
}

fn verdict(key: &'static str, checked: Result<Value, &'static str>) -> Value {
    let (ok, error) = (checked.is_ok(), checked.as_ref().err().copied());
    Value::dict([
        ("error", error.into()),
        ("ok", ok.into()),
        (key, checked.unwrap_or_default()),
    ])
}

fn session_sign(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("session_sign", arguments, 2)?;
    Ok(session(argument(arguments, 0), &text(arguments, 1)).into())
}

fn session(payload: &Value, secret: &str) -> String {
    let mut text = String::new();
    json::write(payload, &mut text);
    let body = URL_SAFE_NO_PAD.encode(text);
    format!("v1.{body}.{}", signature(secret, &body))
}

fn session_verify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("session_verify", arguments, 2)?;
    let (token, secret) = (text(arguments, 0), text(arguments, 1));
    Ok(verdict("payload", payload(&token, &secret)))
}

/// The payload of a session, or what is wrong with its token.
fn payload(token: &str, secret: &str) -> Result<Value, &'static str> {
    let parts: Vec<&str> = token.split('.').collect();
    let ["v1", body, given] = *parts.as_slice() else {
        return Err("malformed");
    };
    if !is_signed(secret, body, given) {
        return Err("invalid_signature");
    }
    let octets = URL_SAFE_NO_PAD.decode(body).ok();
    let text = octets.and_then(|octets| String::from_utf8(octets).ok());
    let payload = text.and_then(|text| json::parse(&text).ok());
    payload.ok_or("malformed_payload")
}

fn session_cookie(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("session_cookie", arguments, 3)?;
    let attributes = Attributes::read("session_cookie", arguments.get(3))?;
    let token = session(argument(arguments, 1), &text(arguments, 2));
    serialized(&text(arguments, 0), &token, &attributes.guarded())
}

fn session_from_cookies(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("session_from_cookies", arguments, 3)?;
    let (name, secret) = (text(arguments, 1), text(arguments, 2));
    let token = cookie(argument(arguments, 0), &name)?;
    let checked = match token {
        Some(token) => payload(&token.to_text(), &secret),
        None => Err("missing_cookie"),
    };
    Ok(verdict("payload", checked))
}

/// A cookie among those of a request: headers, what `cookie_parse` makes of them, or a dict of
/// names and values.
fn cookie(cookies: &Value, name: &str) -> Result<Option<Value>, Failure> {
    if let Value::Dict(dict) = cookies {
        if let Some(Value::Dict(parsed)) = dict.get("cookies") {
            return Ok(parsed.get(name).cloned());
        }
        if header(dict, "cookie").is_none() {
            return Ok(dict.get(name).cloned());
        }
    }
    let read = Cookies::of("session_from_cookies", cookies)?;
    Ok(read.first_values().get(name).cloned())
}
