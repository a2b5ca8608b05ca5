//! Writes turns as messages of this wire.

use serde_json::{Map, Value, json};

use crate::wire::Wire;
use crate::wire::conversation::{Part, Role, Source, Turn};

/// Content of a user's message that we do not know but this wire does.
const PASSED_ON: [&str; 5] = ["audio_url", "file", "image_url", "input_audio", "video_url"];

/// The messages for `turns`. With `preserve_thinking`, thoughts go back to the model.
pub(super) fn messages(turns: &[Turn], preserve_thinking: bool, messages: &mut Vec<Value>) {
    for turn in turns {
        match turn.role {
            Role::System => {
                let text = joined_text(&turn.parts, "\n");
                messages.push(json!({"role": "system", "content": text}));
            }
            Role::User => user(&turn.parts, messages),
            Role::Assistant => messages.push(assistant(turn, preserve_thinking)),
        }
    }
}

/// Results are messages of their own and directly follow the calls, so they come before what
/// the user says in the same turn. A result can only be text; its pictures are shown by the
/// user.
fn user(parts: &[Part], messages: &mut Vec<Value>) {
    if let [Part::Text(text)] = parts {
        messages.push(json!({"role": "user", "content": text}));
        return;
    }
    let mut content = Vec::new();
    for part in parts {
        if let Part::Result {
            id, content: given, ..
        } = part
        {
            let text = joined_text(given, "\n");
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            let pictures = given.iter().filter(|part| !matches!(part, Part::Text(_)));
            content.extend(pictures.filter_map(content_part));
        } else {
            content.extend(content_part(part));
        }
    }
    let only_text = match content.as_slice() {
        [] => return,
        [only] => only.get("text").cloned(),
        _ => None,
    };
    let content = only_text.unwrap_or(Value::Array(content));
    messages.push(json!({"role": "user", "content": content}));
}

fn content_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image { source, detail } => {
            let mut image = json!({"url": image_url(source)});
            if let Some(detail) = detail {
                image["detail"] = json!(detail);
            }
            Some(json!({"type": "image_url", "image_url": image}))
        }
        Part::Other(block) => {
            let kind = block.get("type").and_then(Value::as_str)?;
            PASSED_ON.contains(&kind).then(|| block.clone())
        }
        Part::Call { .. } | Part::Result { .. } | Part::Thought { .. } => None,
    }
}

fn assistant(turn: &Turn, preserve_thinking: bool) -> Value {
    let mut message = Map::new();
    if preserve_thinking {
        message = thoughts(turn);
    }
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), json!(joined_text(&turn.parts, "")));
    let calls: Vec<Value> = turn.parts.iter().filter_map(call).collect();
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(message)
}

/// What the message gets besides text and calls: what this wire kept, else what other wires
/// and programs call a thought.
fn thoughts(turn: &Turn) -> Map<String, Value> {
    let kept = turn.kept.as_ref();
    let kept = kept.filter(|kept| kept.wire == Wire::Chat.name());
    if let Some(kept) = kept {
        let objects = kept.blocks.iter().filter_map(Value::as_object);
        return objects.flat_map(Map::clone).collect();
    }
    let mut extras = Map::new();
    let texts = turn.parts.iter().filter_map(|part| match part {
        Part::Thought { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    if !text.is_empty() {
        extras.insert("reasoning_content".to_owned(), Value::String(text));
    }
    extras
}

fn call(part: &Part) -> Option<Value> {
    let Part::Call {
        id,
        name,
        arguments,
    } = part
    else {
        return None;
    };
    Some(json!({
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": arguments_text(arguments)},
    }))
}

/// Arguments as the text a model would have written. A text is one that was no JSON.
pub(in crate::wire) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    }
}

/// The texts among `parts`.
pub(in crate::wire) fn joined_text(parts: &[Part], separator: &str) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(separator)
}

/// A picture as a URL, which may hold the picture itself.
pub(in crate::wire) fn image_url(source: &Source) -> String {
    match source {
        Source::Url(url) => url.clone(),
        Source::Base64 { data, media_type } => format!("data:{media_type};base64,{data}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::conversation::Kept;

    fn turn(role: Role, parts: Vec<Part>) -> Turn {
        Turn {
            role,
            parts,
            kept: None,
        }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[track_caller]
    fn check(turn: Turn, preserve_thinking: bool, expected: Value) {
        let mut written = Vec::new();
        messages(&[turn], preserve_thinking, &mut written);
        assert_eq!(Value::Array(written), expected);
    }

    #[test]
    fn one_text_is_a_string_and_more_are_a_list() {
        check(
            turn(Role::User, vec![text("hi")]),
            false,
            json!([{"role": "user", "content": "hi"}]),
        );
        let image = Part::Image {
            source: Source::Base64 {
                data: "QUJD".to_owned(),
                media_type: "image/png".to_owned(),
            },
            detail: Some("low".to_owned()),
        };
        check(
            turn(Role::User, vec![text("look"), image]),
            false,
            json!([{"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url",
                 "image_url": {"url": "data:image/png;base64,QUJD", "detail": "low"}},
            ]}]),
        );
    }

    #[test]
    fn results_come_first_and_their_pictures_are_the_users() {
        let result = Part::Result {
            id: "c1".to_owned(),
            name: Some("shot".to_owned()),
            content: vec![
                text("a"),
                Part::Image {
                    source: Source::Url("http://x/y.png".to_owned()),
                    detail: None,
                },
                text("b"),
            ],
            is_error: false,
        };
        check(
            turn(Role::User, vec![text("go on"), result]),
            false,
            json!([
                {"role": "tool", "tool_call_id": "c1", "content": "a\nb"},
                {"role": "user", "content": [
                    {"type": "text", "text": "go on"},
                    {"type": "image_url", "image_url": {"url": "http://x/y.png"}},
                ]},
            ]),
        );
    }

    #[test]
    fn blocks_of_other_wires_are_left_out() {
        let other = |value| turn(Role::User, vec![Part::Other(value)]);
        check(other(json!({"type": "document"})), false, json!([]));
        check(other(json!(5)), false, json!([]));
        let audio = json!({"type": "input_audio", "input_audio": {"data": "QQ=="}});
        check(
            other(audio.clone()),
            false,
            json!([{"role": "user", "content": [audio]}]),
        );
    }

    #[test]
    fn thoughts_go_back_only_to_models_that_want_them() {
        let call = Part::Call {
            id: "c1".to_owned(),
            name: "f".to_owned(),
            arguments: json!({"a": 1}),
        };
        let thought = Part::Thought {
            text: "hm".to_owned(),
            signature: None,
        };
        let mut asked = turn(Role::Assistant, vec![thought, text("x"), call]);
        let expected = json!({"role": "assistant", "content": "x", "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "f", "arguments": "{\"a\":1}"}},
        ]});
        check(asked.clone(), false, json!([expected]));

        let mut with_thought = expected.clone();
        with_thought["reasoning_content"] = json!("hm");
        check(asked.clone(), true, json!([with_thought]));

        asked.kept = Some(Kept {
            wire: "chat".to_owned(),
            blocks: vec![json!({"reasoning": "as kept", "role": "never"})],
        });
        let mut with_kept = expected.clone();
        with_kept["reasoning"] = json!("as kept");
        check(asked.clone(), true, json!([with_kept]));
        check(asked, false, json!([expected]));
    }

    #[test]
    fn an_assistant_that_only_calls_says_the_empty_text() {
        let call = Part::Call {
            id: "c1".to_owned(),
            name: "f".to_owned(),
            arguments: Value::Null,
        };
        check(
            turn(Role::Assistant, vec![call]),
            false,
            json!([{"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]}]),
        );
    }
}
