//! Responses: making them, and making one of what a handler gives.

use std::ops::RangeInclusive;

use harn_machine::value::{Bytes, Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use super::options;
use crate::encoding::octets;
use crate::expect::text;
use crate::json;

/// What a response can have as its status. Anything else is a mistake of the server.
const STATUSES: RangeInclusive<i64> = 100..=999;

const OK: i64 = 200;
const NO_CONTENT: i64 = 204;
const SERVER_ERROR: i64 = 500;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("http_header", http_header),
        ("http_response", http_response),
        ("http_response_bytes", |_, arguments| {
            Ok(made(Kind::Bytes, arguments))
        }),
        ("http_response_json", |_, arguments| {
            Ok(made(Kind::Json, arguments))
        }),
        ("http_response_text", |_, arguments| {
            Ok(made(Kind::Text, arguments))
        }),
        ("__http_server_response", |_, arguments| {
            Ok(given(argument(arguments, 0)))
        }),
    ]);
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Bytes,
}

impl Kind {
    fn read(name: &str) -> Self {
        match name {
            "json" => Self::Json,
            "bytes" => Self::Bytes,
            _ => Self::Text,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Bytes => "bytes",
        }
    }

    fn content_type(self) -> Option<&'static str> {
        match self {
            Self::Text => Some("text/plain; charset=utf-8"),
            Self::Json => Some("application/json; charset=utf-8"),
            Self::Bytes => None,
        }
    }

    /// A body of this kind as it travels.
    fn octets(self, body: &Value) -> Bytes {
        match (self, body) {
            (_, Value::Bytes(bytes)) => bytes.clone(),
            (Self::Json, body) => {
                let mut out = String::new();
                json::write(body, &mut out);
                Bytes::from(out.into_bytes())
            }
            (_, body) => Bytes::from(octets(body)),
        }
    }
}

/// `http_response(status = 200, body = nil, headers = {})`
fn http_response(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let body = Kind::Text.octets(argument(arguments, 1));
    let status = status(arguments.first());
    Ok(response(status, options(arguments, 2), Kind::Text, body))
}

/// A response of a body, with options for the rest.
fn made(kind: Kind, arguments: &[Value]) -> Value {
    let options = options(arguments, 1);
    let body = kind.octets(argument(arguments, 0));
    response(status(options.get("status")), headers(&options), kind, body)
}

/// The response that a handler or a hook gives.
fn given(result: &Value) -> Value {
    match result {
        Value::Dict(fields) if fields.contains("status") => normalised(fields),
        Value::Nil => {
            let body = Kind::Text.octets(&Value::Nil);
            response(NO_CONTENT, Dict::default(), Kind::Text, body)
        }
        other => response(OK, Dict::default(), Kind::Text, Kind::Text.octets(other)),
    }
}

/// A response that a program has written field by field.
fn normalised(fields: &Dict) -> Value {
    let kind = [fields.get("body_kind"), fields.get("kind")];
    let kind = kind.into_iter().flatten().find(|kind| !kind.is_nil());
    let kind = kind.map_or(Kind::Text, |kind| Kind::read(&kind.to_text()));
    let body = match (fields.get("raw_body"), fields.get("body")) {
        (Some(Value::Bytes(bytes)), _) => bytes.clone(),
        // Text that is said to be JSON is JSON already: that is how responses carry it.
        (_, Some(body @ Value::Text(_))) => Kind::Text.octets(body),
        (_, body) => kind.octets(body.unwrap_or(&Value::Nil)),
    };
    response(status(fields.get("status")), headers(fields), kind, body)
}

/// A response with a text as its body.
pub(super) fn reply(status: i64, headers: &[(&str, &str)], body: &str) -> Value {
    let fields = headers
        .iter()
        .map(|(name, value)| (Text::new(name), Value::text(value)));
    let mut headers = Dict::default();
    for (name, value) in fields {
        headers.insert(name, value);
    }
    response(status, headers, Kind::Text, Kind::Text.octets(&body.into()))
}

fn headers(fields: &Dict) -> Dict {
    match fields.get("headers") {
        Some(Value::Dict(headers)) => headers.clone(),
        _ => Dict::default(),
    }
}

fn status(given: Option<&Value>) -> i64 {
    match given {
        None | Some(Value::Nil) => OK,
        Some(Value::Int(status)) if STATUSES.contains(status) => *status,
        Some(_) => SERVER_ERROR,
    }
}

fn response(status: i64, headers: Dict, kind: Kind, body: Bytes) -> Value {
    let mut shown = Dict::default();
    for (name, value) in headers.iter() {
        shown.insert(name.clone(), value.to_text().into());
    }
    if let Some(content_type) = kind.content_type()
        && find(&shown, "content-type").is_none()
    {
        shown.insert(Text::new("content-type"), content_type.into());
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    Value::dict([
        ("body", text.into()),
        ("body_kind", kind.name().into()),
        ("headers", shown.into()),
        ("ok", (200..300).contains(&status).into()),
        ("raw_body", Value::Bytes(body)),
        ("status", status.into()),
    ])
}

/// A header, however its name is spelled.
fn find<'a>(headers: &'a Dict, name: &str) -> Option<&'a Value> {
    let mut headers = headers.iter();
    let found = headers.find(|(one, _)| one.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

/// `http_header(headers | request | response, name)`
fn http_header(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Dict(message) = argument(arguments, 0) else {
        return Ok(Value::Nil);
    };
    let headers = match message.get("headers") {
        Some(Value::Dict(headers)) => headers,
        _ => message,
    };
    let found = find(headers, &text(arguments, 1)).filter(|value| !value.is_nil());
    Ok(found.map(Value::to_text).into())
}
