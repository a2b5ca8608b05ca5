//! The text of a conversation, which patterns are compared with.

use serde_json::Value;

use crate::{Messages, Totals};

/// What patterns are compared with: every text inside the messages, roles included, depth
/// first in the order of keys, one per line; empty ones are left out.
pub fn match_text(messages: &Messages) -> String {
    let mut texts = Vec::new();
    for message in messages {
        collect(message, &mut texts);
    }
    texts.join("\n")
}

/// How long that text is of one conversation after the other, without writing it.
#[derive(Clone, Debug)]
pub struct MatchTextBytes(Totals<2>);

impl Default for MatchTextBytes {
    fn default() -> Self {
        Self(Totals::of(|message| {
            let (mut texts, mut bytes) = (0, 0);
            measure(message, &mut texts, &mut bytes);
            [texts, bytes]
        }))
    }
}

impl MatchTextBytes {
    /// That of a conversation.
    pub fn of(&mut self, messages: &Messages) -> u64 {
        let [texts, bytes] = self.0.count(messages);
        // A line break stands between two of them.
        bytes + texts.saturating_sub(1)
    }
}

fn measure(value: &Value, texts: &mut u64, bytes: &mut u64) {
    match value {
        Value::String(text) if !text.is_empty() => {
            *texts += 1;
            *bytes += text.len() as u64;
        }
        Value::Array(items) => items.iter().for_each(|item| measure(item, texts, bytes)),
        Value::Object(fields) => fields
            .values()
            .for_each(|field| measure(field, texts, bytes)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What the default answer is about: the content of the last message that says something.
pub fn prompt_text(messages: &Messages) -> String {
    let contents = messages.iter().rev().map(content_text);
    let mut said = contents.filter(|text| !text.trim().is_empty());
    said.next().unwrap_or_default()
}

/// Every text inside the content of a message.
pub(super) fn content_text(message: &Value) -> String {
    let mut texts = Vec::new();
    if let Some(content) = message.get("content") {
        collect(content, &mut texts);
    }
    texts.join("\n")
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if !text.is_empty() => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => {
            // As a program sees them, whatever order they were made in.
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            fields.iter().for_each(|(_, field)| collect(field, texts));
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_of_a_conversation_has_every_string_in_the_order_of_keys() {
        let messages = Messages::from(vec![
            json!({"role": "user", "content": "hi"}),
            json!({"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "function": {"name": "read", "arguments": {"path": "a"}}},
            ]}),
            json!({"role": "user", "content": [{"type": "text", "text": "more"}, 7, null]}),
        ]);
        let none = Messages::default();
        assert_eq!(
            match_text(&messages),
            "hi\nuser\nassistant\na\nread\nc1\nmore\ntext\nuser"
        );
        assert_eq!(match_text(&none), "");
        let mut bytes = MatchTextBytes::default();
        assert_eq!(bytes.of(&messages), match_text(&messages).len() as u64);
        assert_eq!(bytes.of(&none), 0);
    }

    #[test]
    fn the_prompt_is_the_last_content_that_is_not_blank() {
        let rows = [
            (json!([]), ""),
            (
                json!([{"role": "user", "content": "a"}, {"role": "user", "content": " \n"}]),
                "a",
            ),
            (
                json!([{"role": "user", "content": "a"}, {"role": "assistant"}]),
                "a",
            ),
            (
                json!([{"role": "user", "content": [{"type": "text", "text": "x"}, {"text": "y"}]}]),
                "x\ntext\ny",
            ),
        ];
        for (messages, expected) in rows {
            let messages: Messages = serde_json::from_value(messages).unwrap();
            assert_eq!(prompt_text(&messages), expected);
        }
    }
}
