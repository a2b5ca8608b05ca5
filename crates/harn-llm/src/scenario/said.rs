//! The last thing that the user or a tool said.

use serde_json::Value;

use crate::Messages;

/// The text of the last message that is not the model's own. A message with several texts or
/// results gives one line for each.
pub(super) fn last(messages: &Messages) -> String {
    let is_heard = |message: &&Value| !matches!(role(message), "assistant" | "system");
    let mut texts = Vec::new();
    if let Some(message) = messages.iter().rev().find(is_heard) {
        collect(message, &mut texts);
    }
    texts.join("\n")
}

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or_default()
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => {
            let known = ["text", "content", "output"].iter();
            let known = known.filter_map(|key| fields.get(*key));
            known.for_each(|field| collect(field, texts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_said_last_is_found_in_every_shape() {
        let rows = [
            (json!([]), ""),
            (json!([{"role": "user", "content": "a"}]), "a"),
            (
                json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]),
                "a",
            ),
            (
                json!([{"role": "user", "content": "a"}, {"role": "tool", "content": "r"}]),
                "r",
            ),
            (
                json!([{"role": "tool_result", "tool_use_id": "x", "content": "r"}]),
                "r",
            ),
            (
                json!([{"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "x", "content": "r"},
                    {"type": "tool_result", "content": [{"type": "text", "text": "s"}]},
                ]}]),
                "r\ns",
            ),
        ];
        for (messages, expected) in rows {
            let messages: Messages = serde_json::from_value(messages).unwrap();
            assert_eq!(last(&messages), expected);
        }
    }
}
