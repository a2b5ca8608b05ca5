//! How transcripts begin, are copied and are put away.

use harn_llm::desk::Thrown;
use harn_llm::options::value::truthy;
use harn_llm::transcript::{NewId, runtime_event};
use serde_json::{Value, json};

use super::Call;
use super::shape::{empty, is_transcript, messages, push_event, rebuild};

/// `transcript(metadata?)`.
pub(super) fn made(call: Call<'_>, new_id: &mut NewId<'_>) -> Value {
    with_metadata(call.argument(0), new_id)
}

/// `transcript_from_messages(list | transcript)`.
pub(super) fn from_messages(call: Call<'_>, new_id: &mut NewId<'_>) -> Result<Value, Thrown> {
    let source = call.argument(0);
    let messages = match source {
        Value::Array(messages) => messages.as_slice(),
        transcript if is_transcript(transcript) => messages(transcript),
        _ => return Err(call.thrown("argument must be a message list or transcript")),
    };
    let transcript = empty(new_id);
    Ok(rebuild(&transcript, messages.to_vec(), new_id))
}

/// `transcript_reset({metadata}?)`.
pub(super) fn reset(call: Call<'_>, new_id: &mut NewId<'_>) -> Value {
    let mut transcript = with_metadata(&call.argument(0)["metadata"], new_id);
    enter_state(
        &mut transcript,
        "active",
        call.builtin,
        "transcript reset",
        new_id,
    );
    transcript
}

fn with_metadata(metadata: &Value, new_id: &mut NewId<'_>) -> Value {
    let mut transcript = empty(new_id);
    if !metadata.is_null() {
        transcript["metadata"] = metadata.clone();
    }
    transcript
}

/// `transcript_fork(t, {retain_messages, retain_summary}?)`. The copy keeps the id: to whoever
/// looks a conversation up by its id, both are the same one.
pub(super) fn fork(call: Call<'_>, new_id: &mut NewId<'_>) -> Result<Value, Thrown> {
    let transcript = call.transcript()?;
    let options = call.argument(1);
    let retain = |key: &str| options[key].is_null() || truthy(&options[key]);
    let kept = match retain("retain_messages") {
        true => messages(transcript).to_vec(),
        false => Vec::new(),
    };
    let mut copy = rebuild(transcript, kept, new_id);
    if let Value::Object(fields) = &mut copy
        && !retain("retain_summary")
    {
        fields.remove("summary");
    }
    enter_state(
        &mut copy,
        "forked",
        call.builtin,
        "transcript forked",
        new_id,
    );
    Ok(copy)
}

/// `transcript_archive/abandon/resume(t)`.
pub(super) fn move_on(call: Call<'_>, new_id: &mut NewId<'_>) -> Result<Value, Thrown> {
    let (state, text) = match call.builtin {
        "transcript_archive" => ("archived", "transcript archived"),
        "transcript_abandon" => ("abandoned", "transcript abandoned"),
        _ => ("active", "transcript resumed"),
    };
    let mut transcript = call.transcript()?.clone();
    enter_state(&mut transcript, state, call.builtin, text, new_id);
    Ok(transcript)
}

/// Notes a state and how the transcript came to it; the event has the name of the builtin.
fn enter_state(
    transcript: &mut Value,
    state: &str,
    event_kind: &str,
    text: &str,
    new_id: &mut NewId<'_>,
) {
    transcript["state"] = json!(state);
    let event = runtime_event(event_kind, "system", "internal", text, None, new_id);
    push_event(transcript, event);
}
