//! Turns of a conversation as Anthropic wants them.
//!
//! Turns of the same side that follow each other become one message. Results stand before
//! anything else in theirs, and signed thoughts before what was said after them; the provider
//! refuses other orders.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::wire::conversation::{Part, Role, Source, Turn};

/// The instructions before the first turn of anybody else, and all other turns as messages.
pub(super) fn write(turns: &[Turn]) -> (Vec<String>, Vec<Value>) {
    let is_system = |turn: &&Turn| turn.role == Role::System;
    let leading = turns.iter().take_while(is_system).count();
    let (instructions, turns) = turns.split_at(leading);
    let instructions = instructions.iter().map(|turn| plain_text(&turn.parts));
    let mut messages = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn.role {
            // There is no place for instructions in the middle; the user says them.
            Role::User | Role::System => ("user", user_blocks(&turn.parts)),
            Role::Assistant => ("assistant", assistant_blocks(turn)),
        };
        append(&mut messages, role, blocks);
    }
    (
        instructions.filter(|text| !text.is_empty()).collect(),
        messages,
    )
}

/// Adds blocks to the last message if it is of that side, else as a message of their own.
pub(super) fn append(messages: &mut Vec<Value>, role: &str, mut blocks: Vec<Value>) {
    if blocks.is_empty() {
        return;
    }
    let last = messages.last_mut().filter(|last| last["role"] == role);
    match last.and_then(|last| last["content"].as_array_mut()) {
        Some(content) => {
            content.append(&mut blocks);
            content.sort_by_key(|block| block["type"] != "tool_result");
        }
        None => messages.push(json!({"role": role, "content": blocks})),
    }
}

fn user_blocks(parts: &[Part]) -> Vec<Value> {
    let mut blocks: Vec<Value> = parts.iter().filter_map(block).collect();
    blocks.sort_by_key(|block| block["type"] != "tool_result");
    blocks
}

fn assistant_blocks(turn: &Turn) -> Vec<Value> {
    let kept = turn.kept.as_ref();
    if let Some(kept) = kept.filter(|kept| kept.wire == Wire::Anthropic.name()) {
        // Text without words is the one thing the provider says and does not take back.
        let is_blank = |block: &Value| block["type"] == "text" && is_blank(&block["text"]);
        let blocks = kept.blocks.iter().filter(|block| !is_blank(block));
        return blocks.cloned().collect();
    }
    let mut blocks: Vec<Value> = turn.parts.iter().filter_map(block).collect();
    if !blocks.first().is_some_and(is_thought) {
        blocks.sort_by_key(|block| !is_thought(block));
    }
    blocks
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image { source, .. } => Some(json!({"type": "image", "source": image(source)})),
        Part::Call {
            id,
            name,
            arguments,
        } => Some(json!({
            "type": "tool_use", "id": allowed_id(id), "name": name, "input": input(arguments),
        })),
        Part::Result {
            id,
            content,
            is_error,
            ..
        } => Some(result(id, content, *is_error)),
        // Unsigned thoughts are another provider's; this one refuses them.
        Part::Thought { text, signature } => signature
            .as_ref()
            .map(|signature| json!({"type": "thinking", "thinking": text, "signature": signature})),
        Part::Other(block) => Some(block.clone()),
    }
}

fn image(source: &Source) -> Value {
    match source {
        Source::Url(url) => json!({"type": "url", "url": url}),
        Source::Base64 { data, media_type } => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
    }
}

fn result(id: &str, content: &[Part], is_error: bool) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": allowed_id(id)});
    block["content"] = match content {
        [] => json!(""),
        [Part::Text(text)] => json!(text),
        parts => parts.iter().filter_map(self::block).collect(),
    };
    if is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// Arguments have to be an object here; other wires allow anything.
pub(super) fn input(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        other => json!({"value": other}),
    }
}

/// Ids of other providers may hold characters that this one refuses. A call and its result
/// change alike.
fn allowed_id(id: &str) -> String {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    id.replace(|letter| !is_allowed(letter), "_")
}

fn plain_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}
