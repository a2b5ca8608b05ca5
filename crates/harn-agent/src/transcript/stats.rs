//! How much is in a transcript.

use harn_llm::{Messages, Totals};
use serde_json::{Value, json};

use super::shape::{events, messages};

/// About how many tokens messages take: a quarter of the bytes of their texts. Other content
/// counts nothing.
pub fn messages_tokens<'a>(messages: impl IntoIterator<Item = &'a Value>) -> u64 {
    let bytes: u64 = messages.into_iter().map(text_bytes).sum();
    bytes / 4
}

/// The tokens of one conversation after the other.
pub(crate) struct MessagesTokens(Totals<1>);

impl Default for MessagesTokens {
    fn default() -> Self {
        Self(Totals::of(|message| [text_bytes(message)]))
    }
}

impl MessagesTokens {
    /// Those of a conversation.
    pub(crate) fn of(&mut self, messages: &Messages) -> u64 {
        let [bytes] = self.0.count(messages);
        bytes / 4
    }
}

fn text_bytes(message: &Value) -> u64 {
    message["content"].as_str().map_or(0, str::len) as u64
}

/// `estimate_tokens(messages)`.
pub(super) fn estimate(messages: &Value) -> Value {
    let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
    json!(messages_tokens(messages))
}

/// `transcript_stats(t)`. It takes anything, so that a program can show numbers of whatever it
/// has.
pub(super) fn stats(transcript: &Value) -> Value {
    let messages = messages(transcript);
    let of_roles = |roles: &[&str]| {
        let role = |message: &&Value| message["role"].as_str().is_some_and(|r| roles.contains(&r));
        messages.iter().filter(role).count()
    };
    let calls = messages
        .iter()
        .filter_map(|message| message["tool_calls"].as_array());
    let visible = events(transcript)
        .iter()
        .filter(|event| event["visibility"] == "visible");
    json!({
        "message_count": messages.len(),
        "user_facing_message_count": of_roles(&["user", "assistant"]),
        "tool_result_message_count": of_roles(&["tool", "tool_result"]),
        "tool_call_count": calls.map(Vec::len).sum::<usize>(),
        "assistant_message_count": of_roles(&["assistant"]),
        "user_message_count": of_roles(&["user"]),
        "visible_event_count": visible.count(),
    })
}
