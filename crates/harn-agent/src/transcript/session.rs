//! What sessions do with the transcript they own.
//!
//! Trimming, injecting and forking at a message rebuild the events from the messages and drop
//! all others, because these may speak of messages that are gone.

use harn_llm::transcript::NewId;
use serde_json::{Value, json};

use super::shape::{events, is_message_event, messages, rebuild_bare};

/// The transcript of a session that was forked off the session `parent_id`.
pub fn forked(transcript: &Value, parent_id: &str, id: &str) -> Value {
    let mut copy = transcript.clone();
    copy["id"] = json!(id);
    match &mut copy["metadata"] {
        Value::Object(metadata) => {
            metadata.insert("parent_session_id".to_owned(), json!(parent_id));
        }
        other => *other = json!({"parent_session_id": parent_id}),
    }
    copy
}

/// The same, with the first messages only.
pub fn forked_at(
    transcript: &Value,
    keep_first: usize,
    parent_id: &str,
    id: &str,
    new_id: &mut NewId<'_>,
) -> Value {
    let kept = messages(transcript).iter().take(keep_first).cloned();
    let copy = forked(transcript, parent_id, id);
    rebuild_bare(&copy, kept.collect(), new_id)
}

/// How many events a fork at a message has in common with its source: those up to the event of
/// the last message it keeps.
pub fn branched_at_event_index(transcript: &Value, keep_first: usize) -> usize {
    if keep_first == 0 {
        return 0;
    }
    let events = events(transcript);
    let of_messages = events.iter().enumerate();
    let mut of_messages = of_messages.filter(|(_, event)| is_message_event(event));
    let last = of_messages.nth(keep_first - 1);
    last.map_or(events.len(), |(index, _)| index + 1)
}

/// The transcript with its last messages only. How many these are can be read off it.
pub fn trimmed(transcript: &Value, keep_last: usize, new_id: &mut NewId<'_>) -> Value {
    let messages = messages(transcript);
    let from = messages.len().saturating_sub(keep_last);
    rebuild_bare(transcript, messages[from..].to_vec(), new_id)
}

/// The transcript with one more message.
pub fn injected(transcript: &Value, message: Value, new_id: &mut NewId<'_>) -> Value {
    let mut messages = messages(transcript).to_vec();
    messages.push(message);
    rebuild_bare(transcript, messages, new_id)
}
