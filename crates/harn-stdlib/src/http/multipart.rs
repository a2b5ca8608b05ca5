//! Bodies of several parts: `multipart/form-data`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::value::Dict;
use harn_machine::{Answer, Context, Failure, FileRequest, Value, thrown};

use super::header::shown;
use crate::encoding::octets;
use crate::files::{perform, root};

/// What separates parts, unless one of them contains it.
const BOUNDARY: &str = "harn-boundary";

/// A body and what separates its parts.
pub(super) struct Multipart {
    pub(super) boundary: String,
    pub(super) octets: Vec<u8>,
}

struct Part {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    content: Vec<u8>,
}

/// The body that a list of entries describes.
pub(super) fn multipart(context: &mut Context<'_>, entries: &Value) -> Result<Multipart, Failure> {
    let Value::List(entries) = entries else {
        return thrown("http: multipart must be a list");
    };
    let parts = entries.iter().map(|entry| match entry {
        Value::Dict(entry) => part(context, entry),
        _ => thrown("http: multipart entries must be dicts"),
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let boundary = boundary(&parts);
    let octets = encode(&parts, &boundary);
    Ok(Multipart { boundary, octets })
}

fn part(context: &mut Context<'_>, entry: &Dict) -> Result<Part, Failure> {
    let name = shown(entry, "name");
    if name.is_empty() {
        return thrown("http: multipart entry requires name");
    }
    let path = given(entry, "path").map(|path| path.to_text().to_string());
    let content = match (given(entry, "value"), encoded(entry), &path) {
        (Some(value), _, _) => octets(value),
        (None, Some(text), _) => match STANDARD.decode(text.to_text().as_bytes()) {
            Ok(octets) => octets,
            Err(error) => {
                return thrown(format!("http: invalid multipart base64 value: {error}"));
            }
        },
        (None, None, Some(path)) => read(context, path)?,
        (None, None, None) => {
            return thrown("http: multipart entry requires value, value_base64, or path");
        }
    };
    let text = |name: &str| Some(shown(entry, name)).filter(|text| !text.is_empty());
    let filename = text("filename").or_else(|| path.as_deref().map(base_name));
    let content_type = text("content_type").or_else(|| text("mime_type"));
    let usual = filename
        .is_some()
        .then(|| "application/octet-stream".to_owned());
    Ok(Part {
        name,
        filename,
        content_type: content_type.or(usual),
        content,
    })
}

fn given<'a>(entry: &'a Dict, name: &str) -> Option<&'a Value> {
    entry.get(name).filter(|value| !value.is_nil())
}

fn encoded(entry: &Dict) -> Option<&Value> {
    given(entry, "value_base64").or_else(|| given(entry, "base64"))
}

fn read(context: &mut Context<'_>, path: &str) -> Result<Vec<u8>, Failure> {
    let resolved = root::resolve(context, path);
    match perform(context, FileRequest::Read(resolved)) {
        Ok(Answer::Octets(octets)) => Ok(octets),
        Ok(_) => Ok(Vec::new()),
        Err(reason) => thrown(format!(
            "http: failed to read multipart file {path}: {reason}"
        )),
    }
}

fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next();
    name.unwrap_or(path).to_owned()
}

/// A separator that no part contains.
fn boundary(parts: &[Part]) -> String {
    let finder = |boundary: &str| {
        let boundary = boundary.as_bytes().to_vec();
        move |part: &Part| {
            let mut windows = part.content.windows(boundary.len());
            windows.any(|window| window == boundary)
        }
    };
    let mut boundary = BOUNDARY.to_owned();
    let mut number = 0;
    while parts.iter().any(finder(&boundary)) {
        number += 1;
        boundary = format!("{BOUNDARY}-{number}");
    }
    boundary
}

fn encode(parts: &[Part], boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(&part.name)
        );
        if let Some(filename) = &part.filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(filename)));
        }
        if let Some(content_type) = &part.content_type {
            head.push_str(&format!("\r\nContent-Type: {}", one_line(content_type)));
        }
        head.push_str("\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&part.content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// A name as browsers write it between quotes.
fn quoted(name: &str) -> String {
    let escaped = name.replace('"', "%22");
    escaped.replace('\r', "%0D").replace('\n', "%0A")
}

fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}
