//! What a transcript is made of.

use harn_llm::transcript::{NewId, message_event};
use serde_json::{Value, json};

/// Whether a value is a transcript.
pub fn is_transcript(value: &Value) -> bool {
    value["_type"] == "transcript"
}

/// A transcript without messages.
pub fn empty(new_id: &mut NewId<'_>) -> Value {
    json!({
        "_type": "transcript",
        "version": 2,
        "id": new_id(),
        "messages": [],
        "events": [],
        "assets": [],
    })
}

/// The messages of a transcript.
pub fn messages(transcript: &Value) -> &[Value] {
    list(transcript, "messages")
}

/// The events of a transcript.
pub fn events(transcript: &Value) -> &[Value] {
    list(transcript, "events")
}

pub(super) fn list<'a>(transcript: &'a Value, key: &str) -> &'a [Value] {
    transcript[key].as_array().map_or(&[], Vec::as_slice)
}

/// What a transcript says of messages it no longer has.
pub fn summary(transcript: &Value) -> Option<&str> {
    transcript["summary"].as_str()
}

/// Whether an event was derived from a message.
pub fn is_message_event(event: &Value) -> bool {
    event["kind"] == "message" || event["kind"] == "tool_result"
}

/// The transcript with other messages: their events come first, then those events of before
/// that were not about messages.
pub fn rebuild(transcript: &Value, messages: Vec<Value>, new_id: &mut NewId<'_>) -> Value {
    let other = events(transcript).iter();
    let other: Vec<Value> = other
        .filter(|event| !is_message_event(event))
        .cloned()
        .collect();
    replaced(transcript, messages, other, new_id)
}

/// The transcript with other messages, and with the events of these messages only.
pub(super) fn rebuild_bare(
    transcript: &Value,
    messages: Vec<Value>,
    new_id: &mut NewId<'_>,
) -> Value {
    replaced(transcript, messages, Vec::new(), new_id)
}

fn replaced(
    transcript: &Value,
    messages: Vec<Value>,
    other: Vec<Value>,
    new_id: &mut NewId<'_>,
) -> Value {
    let mut transcript = transcript.clone();
    let mut events: Vec<Value> = messages
        .iter()
        .map(|message| message_event(message, new_id))
        .collect();
    events.extend(other);
    transcript["messages"] = Value::Array(messages);
    transcript["events"] = Value::Array(events);
    transcript
}

/// Adds an event at the end.
pub(crate) fn push_event(transcript: &mut Value, event: Value) {
    push(transcript, "events", event);
}

pub(super) fn push(transcript: &mut Value, key: &str, item: Value) {
    match &mut transcript[key] {
        Value::Array(items) => items.push(item),
        other => *other = json!([item]),
    }
}

/// What `earlier` and `more` say together. A summary that is there already is not repeated.
pub fn with_more_summary(earlier: Option<&str>, more: &str) -> String {
    let mut summary = earlier.map(str::to_owned);
    add_summary(&mut summary, more);
    summary.unwrap_or_default()
}

/// Adds to a summary in its place: those of long sessions are long.
pub(crate) fn add_summary(summary: &mut Option<String>, more: &str) {
    let earlier = summary.get_or_insert_default();
    let known = || earlier == more || earlier.ends_with(&format!("\n\n{more}"));
    match () {
        () if earlier.trim().is_empty() => more.clone_into(earlier),
        () if more.trim().is_empty() || known() => {}
        () => {
            earlier.push_str("\n\n");
            earlier.push_str(more);
        }
    }
}
