//! Fields written as a form to be sent.

use harn_machine::Value;
use harn_machine::value::{Bytes, Dict};

use super::disposition::quoted;
use super::{CRLF, boundary};

/// A field with everything about it checked.
struct Field {
    /// What comes before the content, from the first header to the blank line.
    head: String,
    content: Value,
}

impl Field {
    fn content(&self) -> &[u8] {
        match &self.content {
            Value::Bytes(bytes) => bytes,
            Value::Text(text) => text.as_bytes(),
            _ => &[],
        }
    }
}

/// A form of the given fields: its boundary, its content type and its body.
pub(super) fn write(fields: &Value, options: &Value) -> Result<Value, String> {
    let Value::List(given) = fields else {
        return Err(format!("fields must be a list, got {}", fields.type_name()));
    };
    let fields = given.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let contents: Vec<&[u8]> = fields.iter().map(Field::content).collect();
    let boundary = match chosen(options)? {
        Some(boundary) => {
            refuse_inside(&boundary, &contents)?;
            boundary
        }
        None => boundary::generate(given, &contents)?,
    };
    let mut body = Vec::new();
    for field in &fields {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        body.extend_from_slice(field.head.as_bytes());
        body.extend_from_slice(field.content());
        body.extend_from_slice(CRLF);
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let is_word = |octet: u8| octet.is_ascii_alphanumeric() || b"'+_-.".contains(&octet);
    let content_type = match boundary.bytes().all(is_word) {
        true => format!("multipart/form-data; boundary={boundary}"),
        false => format!("multipart/form-data; boundary=\"{boundary}\""),
    };
    Ok(Value::dict([
        ("boundary", boundary.into()),
        ("content_type", content_type.into()),
        ("body", Value::Bytes(Bytes::from(body))),
    ]))
}

/// The boundary that the program wants.
fn chosen(options: &Value) -> Result<Option<String>, String> {
    let options = match options {
        Value::Dict(options) => options,
        Value::Nil => return Ok(None),
        other => {
            return Err(format!(
                "expected options dict at argument 2, got {}",
                other.type_name()
            ));
        }
    };
    match options.get("boundary") {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Text(boundary)) => {
            boundary::check(boundary)?;
            Ok(Some(boundary.as_str().to_owned()))
        }
        Some(other) => Err(format!(
            "boundary must be a string, got {}",
            other.type_name()
        )),
    }
}

/// A boundary at the beginning of a line would end the field there.
fn refuse_inside(boundary: &str, contents: &[&[u8]]) -> Result<(), String> {
    let line = format!("\r\n--{boundary}");
    let ends_early = |content: &&[u8]| {
        content.starts_with(&line.as_bytes()[2..])
            || boundary::find(content, line.as_bytes()).is_some()
    };
    match contents.iter().any(ends_early) {
        true => Err("boundary occurs in field content".to_owned()),
        false => Ok(()),
    }
}

fn field(given: &Value) -> Result<Field, String> {
    let Value::Dict(given) = given else {
        return Err(format!("field must be a dict, got {}", given.type_name()));
    };
    let get = |key: &str| given.get(key).filter(|value| !value.is_nil());
    let name = get("name").ok_or("field is missing name")?.to_text();
    if name.is_empty() {
        return Err("name must not be empty".to_owned());
    }
    single_line("field name", &name)?;
    let mut head = format!("Content-Disposition: form-data; name={}", quoted(&name));
    if let Some(filename) = get("filename") {
        let filename = filename.to_text();
        single_line("filename", &filename)?;
        head.push_str(&format!("; filename={}", quoted(&filename)));
    }
    head.push_str("\r\n");
    if let Some(content_type) = get("content_type") {
        let content_type = content_type.to_text();
        single_line("content_type", &content_type)?;
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
    }
    match get("headers") {
        None => {}
        Some(Value::Dict(headers)) => more_headers(headers, &mut head)?,
        Some(other) => {
            return Err(format!("headers must be a dict, got {}", other.type_name()));
        }
    }
    head.push_str("\r\n");
    let content = get("content").or_else(|| get("value"));
    match content.ok_or("field is missing content")? {
        content @ (Value::Text(_) | Value::Bytes(_)) => Ok(Field {
            head,
            content: content.clone(),
        }),
        other => Err(format!(
            "content must be bytes or string, got {}",
            other.type_name()
        )),
    }
}

fn more_headers(headers: &Dict, head: &mut String) -> Result<(), String> {
    for (name, value) in headers {
        if name.is_empty() {
            return Err("part header name must not be empty".to_owned());
        }
        single_line("header names", name)?;
        let is_ours = ["content-type", "content-disposition"];
        if is_ours.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("{name} is managed by multipart_form_data"));
        }
        let Value::Text(value) = value else {
            return Err(format!(
                "header {name} must be a string, got {}",
                value.type_name()
            ));
        };
        single_line("header values", value)?;
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    Ok(())
}

fn single_line(what: &str, text: &str) -> Result<(), String> {
    match text.contains(['\r', '\n']) {
        true => Err(format!("{what} must be single-line")),
        false => Ok(()),
    }
}
