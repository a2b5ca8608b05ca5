//! The fields of a form that was sent.

use harn_machine::Value;
use harn_machine::value::{Bytes, Dict};

use super::disposition::{head, parameter};
use super::{CRLF, boundary};

/// How large a form may be.
pub(super) struct Limits {
    total_bytes: usize,
    field_bytes: usize,
    fields: usize,
}

impl Limits {
    pub(super) fn new(options: &Value) -> Result<Self, String> {
        let options = match options {
            Value::Dict(options) => options.clone(),
            Value::Nil => Dict::default(),
            other => {
                return Err(format!(
                    "expected options dict at argument 3, got {}",
                    other.type_name()
                ));
            }
        };
        Ok(Self {
            total_bytes: limit(&options, "max_total_bytes", 8 << 20)?,
            field_bytes: limit(&options, "max_field_bytes", 8 << 20)?,
            fields: limit(&options, "max_fields", 128)?,
        })
    }
}

fn limit(options: &Dict, key: &str, fallback: usize) -> Result<usize, String> {
    match options.get(key) {
        None | Some(Value::Nil) => Ok(fallback),
        Some(Value::Int(number)) => usize::try_from(*number)
            .map_err(|_| format!("{key} must be non-negative, got {number}")),
        Some(other) => Err(format!("{key} must be an int, got {}", other.type_name())),
    }
}

/// Reads the body of a form.
pub(super) fn read(body: &[u8], content_type: &str, limits: &Limits) -> Result<Value, String> {
    let boundary = boundary_of(content_type)?;
    if body.len() > limits.total_bytes {
        return Err(format!(
            "total body size {} exceeds max_total_bytes {}",
            body.len(),
            limits.total_bytes
        ));
    }
    let delimiter = format!("\r\n--{boundary}");
    let Some(mut rest) = body.strip_prefix(&delimiter.as_bytes()[2..]) else {
        return Err("body does not start with multipart boundary".to_owned());
    };
    let mut malformed = "malformed boundary delimiter line";
    let mut fields = Vec::new();
    while let Some(part) = after_boundary(rest, malformed)? {
        if fields.len() == limits.fields {
            return Err(format!("field count exceeds max_fields {}", limits.fields));
        }
        let (headers, content) = headers(part)?;
        let Some(end) = boundary::find(content, delimiter.as_bytes()) else {
            return Err("part is missing following boundary".to_owned());
        };
        if end > limits.field_bytes {
            return Err(format!(
                "field size {end} exceeds max_field_bytes {}",
                limits.field_bytes
            ));
        }
        fields.push(field(headers, &content[..end])?);
        rest = &content[end + delimiter.len()..];
        malformed = "malformed boundary after part";
    }
    Ok(Value::dict([
        ("boundary", boundary.into()),
        ("field_count", fields.len().into()),
        ("fields", Value::list(fields)),
        ("total_bytes", body.len().into()),
    ]))
}

fn boundary_of(content_type: &str) -> Result<String, String> {
    let kind = head(content_type);
    if !kind.eq_ignore_ascii_case("multipart/form-data") {
        return Err(format!(
            "expected multipart/form-data content type, got {kind}"
        ));
    }
    let Some(boundary) = parameter(content_type, "boundary") else {
        return Err("content type is missing boundary".to_owned());
    };
    boundary::check(&boundary)?;
    Ok(boundary)
}

/// What follows the line of a boundary; nothing if it is the last one.
fn after_boundary<'a>(rest: &'a [u8], malformed: &str) -> Result<Option<&'a [u8]>, String> {
    if let Some(after) = rest.strip_prefix(b"--") {
        return match after.is_empty() || after == CRLF {
            true => Ok(None),
            false => Err("unexpected bytes after closing boundary".to_owned()),
        };
    }
    // Spaces here are padding of whoever passed it on.
    let padding = rest
        .iter()
        .take_while(|octet| matches!(octet, b' ' | b'\t'));
    match rest[padding.count()..].strip_prefix(CRLF) {
        Some(part) => Ok(Some(part)),
        None => Err(malformed.to_owned()),
    }
}

/// The headers of a part, and what follows them.
fn headers(part: &[u8]) -> Result<(Dict, &[u8]), String> {
    if let Some(content) = part.strip_prefix(CRLF) {
        return Ok((Dict::default(), content));
    }
    let Some(end) = boundary::find(part, b"\r\n\r\n") else {
        return Err("part is missing header terminator".to_owned());
    };
    let lines = std::str::from_utf8(&part[..end]);
    let lines = lines.map_err(|error| format!("part headers are not UTF-8: {error}"))?;
    let mut headers = Dict::default();
    for line in lines.split("\r\n") {
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("malformed part header line `{line}`"));
        };
        let name = name.trim().to_ascii_lowercase();
        if name.is_empty() {
            return Err("part header name must not be empty".to_owned());
        }
        headers.insert(name.into(), value.trim().into());
    }
    Ok((headers, &part[end + 4..]))
}

fn field(headers: Dict, content: &[u8]) -> Result<Value, String> {
    let Some(disposition) = headers.get("content-disposition") else {
        return Err("part is missing Content-Disposition header".to_owned());
    };
    let disposition = disposition.to_text();
    let kind = head(&disposition);
    if !kind.eq_ignore_ascii_case("form-data") {
        return Err(format!("expected form-data disposition, got {kind}"));
    }
    let Some(name) = parameter(&disposition, "name") else {
        return Err("part Content-Disposition is missing name".to_owned());
    };
    let content_type = headers.get("content-type").cloned();
    Ok(Value::dict([
        ("name", name.into()),
        ("filename", parameter(&disposition, "filename").into()),
        ("content_type", content_type.into()),
        ("headers", headers.into()),
        ("text", std::str::from_utf8(content).ok().into()),
        ("bytes", Value::Bytes(Bytes::from(content.to_vec()))),
    ]))
}
