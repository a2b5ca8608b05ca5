//! How much is in a transcript.

use serde_json::{Value, json};

use super::shape::{events, messages};

/// About how many tokens messages take: a quarter of the bytes of their texts. Other content
/// counts nothing.
pub fn messages_tokens(messages: &[Value]) -> u64 {
    let texts = messages
        .iter()
        .filter_map(|message| message["content"].as_str());
    let bytes: usize = texts.map(str::len).sum();
    bytes as u64 / 4
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
