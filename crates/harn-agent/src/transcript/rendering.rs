//! Transcripts as text, for people and for files.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use harn_llm::sorted_json_pretty;
use serde_json::{Value, json};

use super::Call;
use super::shape::{events, is_transcript};

/// `transcript_render_visible(t)`: what people may see.
pub(super) fn visible(call: Call<'_>) -> Result<Value, Thrown> {
    let transcript = call.transcript()?;
    let lines = events(transcript)
        .iter()
        .filter(|event| event["visibility"] == "public" && !field(event, "text").is_empty())
        .map(|event| format!("{}: {}", field(event, "role"), field(event, "text")));
    Ok(json!(lines.collect::<Vec<_>>().join("\n")))
}

/// `transcript_render_full(t)`: everything, with who may see it.
pub(super) fn full(call: Call<'_>) -> Result<Value, Thrown> {
    let transcript = call.transcript()?;
    let lines = events(transcript).iter().map(|event| {
        let visibility = field(event, "visibility");
        format!(
            "[{visibility}] {}: {}",
            field(event, "role"),
            field(event, "text")
        )
    });
    Ok(json!(lines.collect::<Vec<_>>().join("\n")))
}

fn field<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap_or_default()
}

/// `transcript_export(t)`.
pub(super) fn export(call: Call<'_>) -> Result<Value, Thrown> {
    let transcript = call.transcript()?;
    let text = sorted_json_pretty(transcript);
    Ok(json!(text))
}

/// `transcript_import(text)`.
pub(super) fn import(call: Call<'_>) -> Result<Value, Thrown> {
    let text = display(call.argument(0));
    let value: Value =
        serde_json::from_str(&text).map_err(|error| call.thrown(&error.to_string()))?;
    match is_transcript(&value) {
        true => Ok(value),
        false => Err(call.thrown("argument must be a transcript")),
    }
}
