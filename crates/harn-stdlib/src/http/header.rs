//! The headers of a request, as options describe them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::value::Dict;
use harn_machine::{Failure, Value, thrown};

/// Names in lower case with their values, in the order of the names.
pub(crate) type Headers = Vec<(String, String)>;

/// The headers that `headers` and `auth` describe; the former override the latter.
pub(crate) fn headers(options: &Dict) -> Result<Headers, Failure> {
    let mut headers = Headers::new();
    if let Some(Value::Dict(given)) = options.get("headers") {
        for (name, value) in given.iter() {
            set(&mut headers, name, value.to_text().as_str())?;
        }
    }
    let authorization = options.get("auth").and_then(authorization);
    if let Some(authorization) = authorization
        && find(&headers, "authorization").is_none()
    {
        set(&mut headers, "authorization", &authorization)?;
    }
    headers.sort();
    Ok(headers)
}

fn authorization(auth: &Value) -> Option<String> {
    match auth {
        Value::Nil => None,
        Value::Dict(auth) => {
            if let Some(token) = auth.get("bearer") {
                return Some(format!("Bearer {token}"));
            }
            let Some(Value::Dict(login)) = auth.get("basic") else {
                return None;
            };
            let (user, password) = (shown(login, "user"), shown(login, "password"));
            Some(format!(
                "Basic {}",
                STANDARD.encode(format!("{user}:{password}"))
            ))
        }
        text => Some(text.to_text().to_string()),
    }
}

/// A field as text, if it is there.
pub(crate) fn shown(fields: &Dict, name: &str) -> String {
    match fields.get(name) {
        None | Some(Value::Nil) => String::new(),
        Some(value) => value.to_text().to_string(),
    }
}

/// A header by its name in lower case.
pub(crate) fn find<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(one, _)| one == name);
    found.map(|(_, value)| value.as_str())
}

/// Sets a header in place of the one of the same name.
pub(crate) fn set(headers: &mut Headers, name: &str, value: &str) -> Result<(), Failure> {
    if name.is_empty() || !name.bytes().all(is_token) {
        return thrown(format!(
            "http: invalid header name '{name}': invalid HTTP header name"
        ));
    }
    let is_visible = |octet: u8| octet == b'\t' || octet >= b' ' && octet != 0x7f;
    if !value.bytes().all(is_visible) {
        return thrown(format!(
            "http: invalid header value for '{name}': failed to parse header value"
        ));
    }
    let name = name.to_ascii_lowercase();
    headers.retain(|(one, _)| *one != name);
    headers.push((name, value.to_owned()));
    Ok(())
}

/// Whether an octet may stand in the name of a header or method.
pub(super) fn is_token(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet)
}
