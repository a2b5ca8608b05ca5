//! Forms as browsers and clients send them (RFC 7578).
//!
//! ```text
//! body + content type ─► read ─► fields
//! fields ─► write ─► body + content type
//! ```

mod boundary;
mod disposition;
mod read;
mod write;

use harn_machine::value::Bytes;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::expect::text;
use read::Limits;

/// The end of a line.
const CRLF: &[u8] = b"\r\n";

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("multipart_field_bytes", |_, arguments| {
            let bytes = field_bytes(argument(arguments, 0));
            answer("multipart_field_bytes", bytes.map(Value::Bytes))
        }),
        ("multipart_field_text", |_, arguments| {
            let text = field_bytes(argument(arguments, 0)).and_then(|bytes| field_text(&bytes));
            answer("multipart_field_text", text)
        }),
        ("multipart_form_data", |_, arguments| {
            let form = write::write(argument(arguments, 0), argument(arguments, 1));
            answer("multipart_form_data", form)
        }),
        ("multipart_parse", multipart_parse),
    ]);
}

fn multipart_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let content_type = text(arguments, 1);
    let form = match argument(arguments, 0) {
        Value::Bytes(body) => Ok(&**body),
        Value::Text(body) => Ok(body.as_bytes()),
        other => Err(format!(
            "expected bytes or string at argument 1, got {}",
            other.type_name()
        )),
    };
    let form = form.and_then(|body| {
        let limits = Limits::new(argument(arguments, 2))?;
        read::read(body, &content_type, &limits)
    });
    answer("multipart_parse", form)
}

/// What a function comes to; problems are errors of the run.
fn answer(function: &str, outcome: Result<Value, String>) -> Result<Value, Failure> {
    outcome.map_err(|problem| Fault::runtime(format!("{function}: {problem}")))
}

/// What a field of a form holds.
fn field_bytes(field: &Value) -> Result<Bytes, String> {
    let Value::Dict(field) = field else {
        return Err(format!("field must be a dict, got {}", field.type_name()));
    };
    match field.get("bytes") {
        Some(Value::Bytes(bytes)) => Ok(bytes.clone()),
        Some(Value::Nil) | None => Err("field is missing bytes".to_owned()),
        Some(other) => Err(format!(
            "field.bytes must be bytes, got {}",
            other.type_name()
        )),
    }
}

fn field_text(bytes: &[u8]) -> Result<Value, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(format!("field is not valid UTF-8: {error}")),
    }
}

/// Reads a body within the limits that hold when nobody says otherwise.
#[cfg(test)]
pub(super) fn read(body: &[u8], content_type: &str) -> Result<Value, String> {
    read::read(body, content_type, &Limits::new(&Value::Nil)?)
}

#[cfg(test)]
mod tests;
