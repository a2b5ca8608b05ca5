//! JSON Web Tokens (RFC 7519) in their compact form.
//!
//! ```text
//! base64url(header) . base64url(claims) . base64url(signature of all before)
//! ```
//!
//! What is wrong with a token is named in one word, by which programs tell the cases apart.

mod algorithm;
mod pem;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, thrown};

use crate::expect::text;
use crate::json;
use algorithm::{Algorithm, Check, Signing};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("jwt_sign", jwt_sign), ("jwt_verify", jwt_verify)]);
}

fn jwt_sign(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let fail = |reason: String| Err(Fault::runtime(format!("jwt_sign: {reason}")));
    let [algorithm, claims, key, ..] = &*arguments else {
        let reason = "requires 3 arguments: alg, claims, private_key";
        return fail(reason.to_owned());
    };
    let Value::Text(name) = algorithm else {
        let kind = algorithm.type_name();
        return fail(format!("alg must be a string, got {kind}"));
    };
    let algorithm = match Algorithm::named(name) {
        Some(algorithm) if algorithm != Algorithm::Hs256 => algorithm,
        _ => {
            return fail(format!(
                "unsupported algorithm `{name}`; expected ES256 or RS256"
            ));
        }
    };
    let Value::Dict(_) = claims else {
        let kind = claims.type_name();
        return fail(format!("claims must be a dict, got {kind}"));
    };
    let Value::Text(key) = key else {
        let kind = key.type_name();
        return fail(format!("private_key must be a PEM string, got {kind}"));
    };
    let key = match Signing::read(algorithm, key) {
        Ok(key) => key,
        Err(reason) => return fail(format!("invalid {name} PEM private key: {reason}")),
    };
    match signed(name, claims, &key) {
        Ok(token) => Ok(token.into()),
        Err(reason) => fail(reason.to_owned()),
    }
}

fn signed(algorithm: &str, claims: &Value, key: &Signing) -> Result<String, &'static str> {
    let header = Value::dict([("alg", algorithm.into()), ("typ", "JWT".into())]);
    let mut token = String::new();
    for part in [&header, claims] {
        let mut text = String::new();
        json::write(part, &mut text);
        URL_SAFE_NO_PAD.encode_string(text, &mut token);
        token.push('.');
    }
    token.pop();
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}

fn jwt_verify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 3 {
        return thrown("jwt_verify: expected (alg, token, key)");
    }
    let (name, token, key) = (text(arguments, 0), text(arguments, 1), text(arguments, 2));
    let Some(algorithm) = Algorithm::named(&name) else {
        return thrown(format!("jwt_verify: unsupported algorithm '{name}'"));
    };
    let key = match Check::read(algorithm, &key) {
        Ok(key) => key,
        Err(reason) => {
            return thrown(format!("jwt_verify: invalid {name} public key: {reason}"));
        }
    };
    match claims(&name, &token, &key) {
        Ok(claims) => Ok(Value::dict([
            ("claims", claims.into()),
            ("valid", true.into()),
        ])),
        Err(reason) => thrown(format!("jwt_verify: {reason}")),
    }
}

/// The claims of a token, or why it is not to be trusted.
fn claims(algorithm: &Text, token: &str, key: &Check) -> Result<Dict, String> {
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = *parts.as_slice() else {
        return Err("InvalidToken".to_owned());
    };
    match object(header)?.get("alg") {
        Some(Value::Text(given)) if given == algorithm => {}
        _ => return Err("InvalidAlgorithm".to_owned()),
    }
    let message = &token[..header.len() + 1 + claims.len()];
    if !key.is_signed(message.as_bytes(), &octets(signature)?) {
        return Err("InvalidSignature".to_owned());
    }
    let claims = object(claims)?;
    // A token for somebody in particular is for those who know that they are meant.
    match claims.contains("aud") {
        true => Err("InvalidAudience".to_owned()),
        false => Ok(claims),
    }
}

fn octets(part: &str) -> Result<Vec<u8>, String> {
    let octets = URL_SAFE_NO_PAD.decode(part);
    octets.map_err(|error| format!("Base64 error: {error}"))
}

/// A part of a token that is an object in JSON.
fn object(part: &str) -> Result<Dict, String> {
    let text = String::from_utf8(octets(part)?);
    let text = text.map_err(|error| format!("UTF-8 error: {}", error.utf8_error()))?;
    match json::parse(&text) {
        Ok(Value::Dict(dict)) => Ok(dict),
        Ok(other) => {
            let kind = other.type_name();
            Err(format!("JSON error: expected an object, got {kind}"))
        }
        Err(reason) => Err(format!("JSON error: {reason}")),
    }
}

#[cfg(test)]
mod tests;
