//! Messages of web sockets, as programs write and see them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::value::{Dict, Text};
use harn_machine::{Failure, SocketMessage, Value, thrown};

use crate::encoding::octets;
use crate::http::options::number;

/// The code of a socket that is closed without saying one.
const NORMAL: u16 = 1000;

/// The message that a value and options describe.
pub(super) fn message(
    builtin: &str,
    value: &Value,
    options: &Dict,
) -> Result<SocketMessage, Failure> {
    let kind = match options.get("type") {
        None | Some(Value::Nil) => None,
        Some(kind) => Some(kind.to_text().to_lowercase()),
    };
    let is_encoded = options.get("base64").is_some_and(Value::is_truthy);
    let octets = || match is_encoded {
        true => decoded(builtin, value, options),
        false => Ok(shown_octets(value)),
    };
    let usual = match value {
        Value::Bytes(_) => "binary",
        _ if is_encoded => "binary",
        _ => "text",
    };
    Ok(match kind.as_deref().unwrap_or(usual) {
        "text" => {
            let octets = octets()?;
            SocketMessage::Text(String::from_utf8_lossy(&octets).into_owned())
        }
        "binary" => SocketMessage::Binary(octets()?),
        "ping" => SocketMessage::Ping(octets()?),
        "pong" => SocketMessage::Pong(octets()?),
        "close" => SocketMessage::Close(farewell(options)),
        other => return thrown(format!("{builtin}: unknown message type '{other}'")),
    })
}

fn shown_octets(value: &Value) -> Vec<u8> {
    match value {
        Value::Nil => Vec::new(),
        value => octets(value),
    }
}

/// The octets of a text in base64, which is the value or the option itself.
fn decoded(builtin: &str, value: &Value, options: &Dict) -> Result<Vec<u8>, Failure> {
    let text = match options.get("base64") {
        Some(Value::Text(text)) => text.clone(),
        _ => value.to_text(),
    };
    match STANDARD.decode(text.as_bytes()) {
        Ok(octets) => Ok(octets),
        Err(error) => thrown(format!("{builtin}: invalid base64: {error}")),
    }
}

/// Why a socket is closed, if options say it.
fn farewell(options: &Dict) -> Option<(u16, String)> {
    let code = number(options, "code").and_then(|code| u16::try_from(code).ok());
    let reason = options.get("reason").filter(|reason| !reason.is_nil());
    let reason = reason.map(|reason| reason.to_text().to_string());
    match (code, reason) {
        (None, None) => None,
        (code, reason) => Some((code.unwrap_or(NORMAL), reason.unwrap_or_default())),
    }
}

/// The kind of a message, and what is in it as a list of calls shows it.
pub(super) fn listed(message: &SocketMessage) -> (&'static str, Value) {
    let encoded = |octets: &[u8]| Value::from(STANDARD.encode(octets));
    match message {
        SocketMessage::Text(text) => ("text", text.as_str().into()),
        SocketMessage::Binary(octets) => ("binary", encoded(octets)),
        SocketMessage::Ping(octets) => ("ping", encoded(octets)),
        SocketMessage::Pong(octets) => ("pong", encoded(octets)),
        SocketMessage::Close(_) => ("close", Value::Nil),
    }
}

/// A message as a program receives it.
pub(super) fn described(message: SocketMessage) -> Value {
    let (kind, data) = listed(&message);
    let mut fields = Dict::default();
    let mut set = |name: &str, value: Value| {
        fields.insert(Text::new(name), value);
    };
    set("type", kind.into());
    match message {
        SocketMessage::Text(_) => set("data", data),
        SocketMessage::Close(None) => {}
        SocketMessage::Close(Some((code, reason))) => {
            set("code", Value::Int(i64::from(code)));
            set("reason", reason.into());
        }
        _ => set("data_base64", data),
    }
    Value::Dict(fields)
}

/// How many octets a message has.
pub(super) fn length(message: &SocketMessage) -> usize {
    match message {
        SocketMessage::Text(text) => text.len(),
        SocketMessage::Binary(octets)
        | SocketMessage::Ping(octets)
        | SocketMessage::Pong(octets) => octets.len(),
        SocketMessage::Close(_) => 0,
    }
}
