//! Conversations as programs see them: messages, and events about them.
//!
//! A transcript is plain JSON, because programs read, cut and put together transcripts
//! themselves.

use serde_json::{Map, Value, json};

use crate::object::object;
use crate::sorted_json;

/// Makes the ids of transcripts and their events.
pub type NewId<'a> = dyn FnMut() -> String + 'a;

/// A transcript of messages, followed by events that are none.
pub fn transcript(
    messages: Vec<Value>,
    extra: Vec<Value>,
    state: &str,
    id: &mut NewId<'_>,
) -> Value {
    let messages: Vec<Value> = messages.into_iter().map(entering).collect();
    let mut events: Vec<Value> = messages
        .iter()
        .map(|message| message_event(message, id))
        .collect();
    events.extend(extra);
    let transcript = object([
        ("_type", "transcript".into()),
        ("version", 2.into()),
        ("id", id().into()),
        ("assets", Value::Array(Vec::new())),
        ("state", state.into()),
        ("messages", Value::Array(messages)),
        ("events", Value::Array(events)),
    ]);
    transcript.into()
}

/// A message as a transcript keeps it.
pub fn entering(message: Value) -> Value {
    let role = message["role"].as_str().unwrap_or("user");
    if role == "tool" || message.get("tool_calls").is_some() {
        return message;
    }
    match &message["content"] {
        Value::String(_) if has_nothing_else(&message) => message,
        content @ Value::String(_) => json!({"role": role, "content": content}),
        Value::Array(blocks) => match blocks.iter().find(|block| block["type"] == "tool_result") {
            Some(result) if role == "user" => json!({
                "role": "tool_result",
                "tool_use_id": result["tool_use_id"],
                "content": result["content"],
            }),
            _ => message,
        },
        _ => message,
    }
}

/// Whether a message has a role and a content only.
fn has_nothing_else(message: &Value) -> bool {
    let fields = message.as_object().map_or(0, Map::len);
    fields == 2 && message["role"].is_string()
}

/// The event of a message.
pub fn message_event(message: &Value, id: &mut NewId<'_>) -> Value {
    let role = message["role"].as_str().unwrap_or("user");
    let (kind, usual) = match role {
        "tool_result" => ("tool_result", "internal"),
        _ => ("message", "public"),
    };
    let blocks = blocks_of(&message["content"], usual);
    let text: Vec<String> = blocks
        .iter()
        .map(shown)
        .filter(|text| !text.is_empty())
        .collect();
    let event = object([
        ("id", id().into()),
        ("kind", kind.into()),
        ("role", role.into()),
        ("visibility", visibility(&blocks, usual).into()),
        ("text", text.join(" ").into()),
        ("blocks", Value::Array(blocks)),
    ]);
    event.into()
}

/// An event that the runtime adds.
pub fn runtime_event(
    kind: &str,
    role: &str,
    visibility: &str,
    text: &str,
    metadata: Option<Value>,
    id: &mut NewId<'_>,
) -> Value {
    let fields = [
        ("id", id().into()),
        ("kind", kind.into()),
        ("role", role.into()),
        ("visibility", visibility.into()),
        ("text", text.into()),
        ("blocks", vec![text_block(text, visibility)].into()),
    ];
    let mut event = Map::with_capacity(fields.len() + 1);
    event.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    if let Some(metadata) = metadata {
        event.insert("metadata".to_owned(), metadata);
    }
    event.into()
}

fn blocks_of(content: &Value, usual: &str) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| normalised(block, usual))
            .collect(),
        Value::Object(_) => vec![normalised(content, usual)],
        Value::String(text) => vec![text_block(text, usual)],
        other => vec![text_block(&sorted_json(other), usual)],
    }
}

fn text_block(text: &str, visibility: &str) -> Value {
    let block = object([
        ("type", "text".into()),
        ("text", text.into()),
        ("visibility", visibility.into()),
    ]);
    block.into()
}

fn normalised(block: &Value, usual: &str) -> Value {
    let Value::Object(block) = block else {
        return match block {
            Value::String(text) => text_block(text, usual),
            other => text_block(&sorted_json(other), usual),
        };
    };
    let mut block: Map<String, Value> = block.clone();
    block.entry("type").or_insert_with(|| json!("text"));
    block.entry("visibility").or_insert_with(|| json!(usual));
    Value::Object(block)
}

fn visibility<'a>(blocks: &[Value], usual: &'a str) -> &'a str {
    let any = |wanted: &str| blocks.iter().any(|block| block["visibility"] == wanted);
    match () {
        () if any("public") => "public",
        () if any("internal") => "internal",
        () => usual,
    }
}

/// How a block reads in the text of its event.
fn shown(block: &Value) -> String {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or("text");
    match kind {
        "text" | "output_text" => text("text")
            .or(text("content"))
            .unwrap_or_default()
            .to_owned(),
        "reasoning" => String::new(),
        "tool_call" | "tool_result" => format!("<{kind}:{}>", text("name").unwrap_or("tool")),
        "image" | "input_image" => format!("<image:{}>", label(block, "image")),
        "file" | "document" | "attachment" => format!("<{kind}:{}>", label(block, kind)),
        other => format!("<{other}>"),
    }
}

fn label<'a>(block: &'a Value, usual: &'a str) -> &'a str {
    let keys = ["name", "title", "path", "asset_id"].into_iter();
    let mut found = keys.filter_map(|key| block.get(key).and_then(Value::as_str));
    found.next().unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(message: Value) -> Value {
        message_event(&message, &mut || "e".to_owned())
    }

    #[test]
    fn a_message_becomes_an_event() {
        let expected = json!({
            "id": "e", "kind": "message", "role": "user", "visibility": "public", "text": "hi",
            "blocks": [{"type": "text", "text": "hi", "visibility": "public"}],
        });
        assert_eq!(event(json!({"role": "user", "content": "hi"})), expected);
        let result = event(json!({"role": "tool_result", "tool_use_id": "1", "content": "ok"}));
        assert_eq!(
            (&result["kind"], &result["visibility"]),
            (&json!("tool_result"), &json!("internal"))
        );
        assert_eq!(
            event(json!({"role": "user", "content": null}))["blocks"],
            json!([])
        );
    }

    #[test]
    fn blocks_are_shown_by_what_they_are() {
        let content = json!([
            {"text": "a"},
            {"type": "output_text", "content": "b"},
            {"type": "reasoning", "text": "hidden", "visibility": "private"},
            {"type": "tool_call", "name": "read", "visibility": "internal"},
            {"type": "tool_result"},
            {"type": "image", "path": "p.png"},
            {"type": "input_image"},
            {"type": "document", "title": "T", "path": "p"},
            {"type": "odd"},
        ]);
        let event = event(json!({"role": "assistant", "content": content}));
        let expected = "a b <tool_call:read> <tool_result:tool> <image:p.png> <image:image> <document:T> <odd>";
        assert_eq!(event["text"], expected);
        assert_eq!(event["visibility"], "public");
    }

    #[test]
    fn messages_enter_a_transcript_in_its_own_shape() {
        let result = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "ok"},
        ]});
        let call = json!({"role": "assistant", "content": "", "tool_calls": [], "extra": 1});
        let plain = json!({"role": "user", "content": "x", "name": "dropped"});
        let transcript = transcript(
            vec![result, call.clone(), plain],
            Vec::new(),
            "active",
            &mut || "id".to_owned(),
        );
        assert_eq!(
            transcript["messages"],
            json!([
                {"role": "tool_result", "tool_use_id": "t1", "content": "ok"},
                call,
                {"role": "user", "content": "x"},
            ]),
        );
        assert_eq!(transcript["state"], "active");
        assert_eq!(transcript["_type"], "transcript");
    }
}
