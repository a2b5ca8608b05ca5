//! Writes turns as input items.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::wire::chat::{arguments_text, image_url, joined_text};
use crate::wire::conversation::{Part, Role, Turn};

/// Content of a user's message that we do not know but this wire does.
const PASSED_ON: [&str; 4] = ["input_audio", "input_file", "input_image", "input_text"];

/// The items for `turns`.
pub(super) fn items(turns: &[Turn]) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in turns {
        let kept = turn.kept.as_ref();
        let kept = kept.filter(|kept| kept.wire == Wire::Responses.name());
        match (turn.role, kept) {
            (_, Some(kept)) => replay(&kept.blocks, &mut items),
            (Role::Assistant, None) => assistant(&turn.parts, &mut items),
            (Role::System, None) => user("system", &turn.parts, &mut items),
            (Role::User, None) => user("user", &turn.parts, &mut items),
        }
    }
    items
}

/// The message of an assistant that said `text`. The list form would need an id, a status and
/// annotations, and only the provider has those.
pub(super) fn assistant_message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": text})
}

/// Reasoning at the very end belonged to a call or a text that was cut off and not kept; the
/// provider refuses it alone.
fn replay(blocks: &[Value], items: &mut Vec<Value>) {
    let is_reasoning = |block: &Value| block["type"] == "reasoning";
    let dangling = blocks.iter().rev().take_while(|block| is_reasoning(block));
    let end = blocks.len() - dangling.count();
    items.extend_from_slice(&blocks[..end]);
}

fn assistant(parts: &[Part], items: &mut Vec<Value>) {
    for part in parts {
        match part {
            Part::Text(text) if !text.is_empty() => items.push(assistant_message(text)),
            Part::Call {
                id,
                name,
                arguments,
            } => items.push(json!({
                "type": "function_call",
                "call_id": id,
                "name": name,
                "arguments": arguments_text(arguments),
            })),
            Part::Text(_)
            | Part::Image { .. }
            | Part::Result { .. }
            | Part::Thought { .. }
            | Part::Other(_) => {}
        }
    }
}

fn user(role: &str, parts: &[Part], items: &mut Vec<Value>) {
    let mut content = Vec::new();
    for part in parts {
        match part {
            Part::Result {
                id, content: given, ..
            } => items.push(json!({
                "type": "function_call_output",
                "call_id": id,
                "output": output(given),
            })),
            other => content.extend(content_part(other)),
        }
    }
    if !content.is_empty() {
        items.push(json!({"type": "message", "role": role, "content": content}));
    }
}

/// What a call gave: a text unless there is more than text.
fn output(content: &[Part]) -> Value {
    if content.iter().all(|part| matches!(part, Part::Text(_))) {
        return Value::String(joined_text(content, "\n"));
    }
    content.iter().filter_map(content_part).collect()
}

fn content_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Part::Image { source, detail } => Some(json!({
            "type": "input_image",
            "image_url": image_url(source),
            "detail": detail.as_deref().unwrap_or("auto"),
        })),
        Part::Other(block) => {
            let kind = block.get("type").and_then(Value::as_str)?;
            PASSED_ON.contains(&kind).then(|| block.clone())
        }
        Part::Call { .. } | Part::Result { .. } | Part::Thought { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::conversation::{Kept, Source};

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[track_caller]
    fn check(role: Role, parts: Vec<Part>, expected: Value) {
        let turn = Turn {
            role,
            parts,
            kept: None,
        };
        assert_eq!(Value::Array(items(&[turn])), expected);
    }

    #[test]
    fn texts_and_pictures_are_content_of_a_message() {
        let image = Part::Image {
            source: Source::Url("http://x/y.png".to_owned()),
            detail: None,
        };
        check(
            Role::User,
            vec![text("look"), image],
            json!([{"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": "http://x/y.png", "detail": "auto"},
            ]}]),
        );
        check(
            Role::System,
            vec![text("be kind")],
            json!([{"type": "message", "role": "system",
                    "content": [{"type": "input_text", "text": "be kind"}]}]),
        );
    }

    #[test]
    fn calls_and_results_are_items_of_their_own() {
        let call = Part::Call {
            id: "c1".to_owned(),
            name: "f".to_owned(),
            arguments: json!({"a": 1}),
        };
        check(
            Role::Assistant,
            vec![text("hm"), call],
            json!([
                {"type": "message", "role": "assistant", "content": "hm"},
                {"type": "function_call", "call_id": "c1", "name": "f",
                 "arguments": "{\"a\":1}"},
            ]),
        );
        let result = |content| Part::Result {
            id: "c1".to_owned(),
            name: None,
            content,
            is_error: false,
        };
        let image = Part::Image {
            source: Source::Base64 {
                data: "QQ==".to_owned(),
                media_type: "image/png".to_owned(),
            },
            detail: Some("high".to_owned()),
        };
        check(
            Role::User,
            vec![
                text("go on"),
                result(vec![text("a"), text("b")]),
                result(vec![image]),
            ],
            json!([
                {"type": "function_call_output", "call_id": "c1", "output": "a\nb"},
                {"type": "function_call_output", "call_id": "c1", "output": [
                    {"type": "input_image", "image_url": "data:image/png;base64,QQ==",
                     "detail": "high"},
                ]},
                {"type": "message", "role": "user",
                 "content": [{"type": "input_text", "text": "go on"}]},
            ]),
        );
    }

    #[test]
    fn what_was_kept_goes_back_to_the_letter() {
        let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "e"});
        let message = json!({"type": "message", "id": "msg_1", "anything": [1]});
        let turn = |wire: &str| Turn {
            role: Role::Assistant,
            parts: vec![text("said")],
            kept: Some(Kept {
                wire: wire.to_owned(),
                blocks: vec![reasoning.clone(), message.clone(), reasoning.clone()],
            }),
        };
        assert_eq!(
            items(&[turn("responses")]),
            [reasoning.clone(), message.clone()]
        );
        assert_eq!(items(&[turn("anthropic")]), [assistant_message("said")]);
    }
}
