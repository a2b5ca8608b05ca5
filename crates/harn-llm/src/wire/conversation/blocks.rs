//! Reads the blocks that messages are made of.

use serde_json::{Value, json};

use super::{Part, Source};
use crate::reply::read_arguments;

/// The parts of a message's or a result's content: a text, a block, or a list of them.
pub(super) fn content(content: &Value) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks.iter().filter_map(part).collect(),
        other => part(other).into_iter().collect(),
    }
}

fn part(block: &Value) -> Option<Part> {
    let kind = match block {
        Value::Null => return None,
        Value::String(text) => return some_text(text),
        Value::Object(fields) => fields.get("type").and_then(Value::as_str),
        other => return Some(Part::Text(other.to_string())),
    };
    match kind {
        Some("text" | "input_text" | "output_text") => some_text(field(block, &["text"])?),
        Some("refusal") => some_text(field(block, &["refusal"])?),
        None if block["text"].is_string() => some_text(field(block, &["text"])?),
        Some("image" | "image_url" | "input_image") => Some(image(block)),
        Some("tool_use" | "tool_call") => Some(call(block)),
        Some("tool_result") => Some(result(block)),
        Some("thinking" | "reasoning") => Some(thought(block)),
        // Our own blocks for programs; the provider's are among the kept ones.
        Some("tool_search_query" | "tool_search_result") => None,
        _ => Some(Part::Other(block.clone())),
    }
}

fn some_text(text: &str) -> Option<Part> {
    (!text.is_empty()).then(|| Part::Text(text.to_owned()))
}

/// The first of those fields that holds text.
fn field<'a>(block: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| block[*name].as_str())
}

/// A call, as a block or as an entry of `tool_calls`.
pub(super) fn call(entry: &Value) -> Part {
    let function = match &entry["function"] {
        Value::Object(_) => &entry["function"],
        _ => entry,
    };
    let arguments = match (&function["arguments"], &function["input"]) {
        (Value::Null, Value::Null) => json!({}),
        (Value::Null, Value::String(text)) | (Value::String(text), _) => read_arguments(text),
        (Value::Null, object) | (object, _) => object.clone(),
    };
    Part::Call {
        id: field(entry, &["id", "call_id"])
            .unwrap_or_default()
            .to_owned(),
        name: field(function, &["name"]).unwrap_or_default().to_owned(),
        arguments,
    }
}

/// A result, as a block or as a message of its own.
pub(super) fn result(entry: &Value) -> Part {
    let id = field(entry, &["tool_call_id", "tool_use_id", "call_id"]);
    let inner = content(&entry["content"]).into_iter();
    // What stands in a result is shown to the model; calls and results have no meaning there,
    // and without them the depth is bounded.
    let inner = inner.filter(|part| !matches!(part, Part::Call { .. } | Part::Result { .. }));
    Part::Result {
        id: id.unwrap_or_default().to_owned(),
        name: field(entry, &["tool_name", "name"]).map(str::to_owned),
        content: inner.collect(),
        is_error: entry["is_error"].as_bool().unwrap_or(false),
    }
}

fn thought(block: &Value) -> Part {
    let signature = field(block, &["signature"]).filter(|signature| !signature.is_empty());
    Part::Thought {
        text: field(block, &["thinking", "text"])
            .unwrap_or_default()
            .to_owned(),
        signature: signature.map(str::to_owned),
    }
}

/// A picture in our own shape, Anthropic's (`source`) or OpenAI's (`image_url`).
fn image(block: &Value) -> Part {
    let place = match (&block["source"], &block["image_url"]) {
        (source @ Value::Object(_), _) => source,
        (_, link @ Value::Object(_)) => link,
        _ => block,
    };
    let url = field(place, &["url", "file_uri", "image_url"]);
    let data = field(place, &["base64", "data"]);
    let source = match (url, data) {
        (_, Some(data)) => {
            let media_type = field(place, &["media_type", "mime_type"]);
            Source::Base64 {
                data: data.to_owned(),
                media_type: media_type
                    .unwrap_or_else(|| guess_media_type(data))
                    .to_owned(),
            }
        }
        (Some(url), None) => read_url(url),
        (None, None) => return Part::Other(block.clone()),
    };
    let detail = field(block, &["detail"]).or_else(|| field(place, &["detail"]));
    Part::Image {
        source,
        detail: detail.map(str::to_owned),
    }
}

fn read_url(url: &str) -> Source {
    let inline = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => Source::Base64 {
            data: data.to_owned(),
            media_type: media_type.to_owned(),
        },
        None => Source::Url(url.to_owned()),
    }
}

/// What the first bytes of a picture say, in base 64.
fn guess_media_type(data: &str) -> &'static str {
    let beginnings = [
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ];
    let known = beginnings.iter().find(|(start, _)| data.starts_with(start));
    known.map_or("image/png", |(_, media_type)| media_type)
}
