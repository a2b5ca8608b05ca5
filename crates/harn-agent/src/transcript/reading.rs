//! What programs take out of a transcript.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::Call;
use super::shape::{self, events};
use crate::microcompact::microcompact;

/// How long a text may be if nobody says.
const MICROCOMPACT_CHARS: u64 = 20_000;

/// `transcript_messages/assets/events(t)`.
pub(super) fn list(call: Call<'_>) -> Result<Value, Thrown> {
    let key = call.builtin.trim_start_matches("transcript_");
    Ok(json!(shape::list(call.transcript()?, key)))
}

/// `transcript_summary(t)`.
pub(super) fn summary_text(call: Call<'_>) -> Result<Value, Thrown> {
    Ok(json!(shape::summary(call.transcript()?)))
}

/// `transcript_id(t)`.
pub(super) fn id(call: Call<'_>) -> Result<Value, Thrown> {
    let id = &call.transcript()?["id"];
    Ok(json!(id.as_str().unwrap_or_default()))
}

/// `transcript_events_by_kind(t, kind)`.
pub(super) fn events_by_kind(call: Call<'_>) -> Result<Value, Thrown> {
    let transcript = call.transcript()?;
    let kind = display(call.argument(1));
    let found = events(transcript)
        .iter()
        .filter(|event| event["kind"] == kind.as_str());
    Ok(json!(found.collect::<Vec<_>>()))
}

/// `microcompact(text, max_chars = 20000)`.
pub(super) fn microcompacted(call: Call<'_>) -> Value {
    let text = match call.argument(0) {
        Value::Null => String::new(),
        value => display(value),
    };
    let max_chars = match call.argument(1).as_i64() {
        Some(max_chars) => max_chars.max(0).unsigned_abs(),
        None => MICROCOMPACT_CHARS,
    };
    let max_chars = usize::try_from(max_chars).unwrap_or(usize::MAX);
    json!(microcompact(&text, max_chars))
}
