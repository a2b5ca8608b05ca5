//! URLs that carry a signature and the time until which they hold.
//!
//! What is signed is a text in which the same URL is always written in the same way:
//!
//! ```text
//! harn-signed-url-v1
//! https://example.com/a%20path          or only the path
//! exp=1700000000&kid=k1&user=ann        escaped, sorted, without the signature
//! ```

mod base;
mod options;
mod verify;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, Registry, Value};

use super::digests::hmac_sha256;
use super::url;
use base::Base;
use options::{Options, text_argument};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("signed_url", signed_url),
        ("verify_signed_url", verify::verify_signed_url),
    ]);
}

/// The parameters of a query, escaped.
type Parameters = Vec<(String, String)>;

fn signed_url(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    const NAME: &str = "signed_url";
    if !(4..=5).contains(&arguments.len()) {
        let reason = "requires 4 or 5 arguments: base, claims, secret, expires_at, options?";
        return fail(NAME, reason);
    }
    let base = text_argument(NAME, arguments, 0, "base")?;
    let claims = match &arguments[1] {
        Value::Dict(claims) => claims,
        other => {
            let kind = other.type_name();
            return fail(NAME, &format!("claims must be a dict, got {kind}"));
        }
    };
    let secret = text_argument(NAME, arguments, 2, "secret")?;
    let expires_at = match &arguments[3] {
        Value::Int(expires_at) => *expires_at,
        other => {
            let kind = other.type_name();
            return fail(NAME, &format!("expires_at must be an int, got {kind}"));
        }
    };
    let options = Options::read(NAME, arguments.get(4))?;
    let base = Base::read(NAME, &base)?;
    let mut parameters = base.parameters(&options);
    add_claims(&mut parameters, claims, &options)?;
    add(&mut parameters, &options.expires, &expires_at.to_string());
    if let Some(kid) = &options.kid {
        add(&mut parameters, &options.kid_name, kid);
    }
    let signature = signature(&secret, &base, &mut parameters);
    add(&mut parameters, &options.signature, &signature);
    parameters.sort();
    Ok(format!("{}?{}", base.address, query(&parameters)).into())
}

fn add_claims(
    parameters: &mut Parameters,
    claims: &Dict,
    options: &Options,
) -> Result<(), Failure> {
    for (key, value) in claims.iter() {
        if options.is_reserved(key) {
            let reason = format!("claims cannot contain reserved parameter `{key}`");
            return fail("signed_url", &reason);
        }
        add(parameters, key, &value.to_text());
    }
    Ok(())
}

fn add(parameters: &mut Parameters, key: &str, value: &str) {
    parameters.push((url::encode(key), url::encode(value)));
}

/// The signature of a URL with these parameters, which are sorted on the way.
fn signature(secret: &str, base: &Base, parameters: &mut Parameters) -> String {
    parameters.sort();
    let message = format!("harn-signed-url-v1\n{}\n{}", base.signed, query(parameters));
    URL_SAFE_NO_PAD.encode(hmac_sha256(secret.as_bytes(), message.as_bytes()))
}

fn query(parameters: &Parameters) -> String {
    let pairs: Vec<String> = parameters
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join("&")
}

fn fail<T>(function: &str, reason: &str) -> Result<T, Failure> {
    Err(Fault::runtime(format!("{function}: {reason}")))
}
