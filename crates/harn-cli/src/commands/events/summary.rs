//! What a record says, in a few words.
//!
//! The payload of an agent event has the event in it; the fields that tell its story
//! come first. Anything else is told field by field.

use serde_json::{Map, Value};

/// For some types, the fields that tell the story, in order. The rest of the fields
/// is left out.
const STORIES: &[(&str, &[&str])] = &[
    ("agent_message_chunk", &["content"]),
    ("agent_thought_chunk", &["content"]),
    ("user_message", &["content"]),
    ("tool_call", &["tool_name", "raw_input"]),
    (
        "tool_call_update",
        &["tool_name", "status", "error", "raw_output"],
    ),
    ("feedback_injected", &["kind", "content"]),
    ("progress_reported", &["message"]),
    ("judge_decision", &["verdict", "reasoning"]),
    ("reminder_emitted", &["body"]),
    ("session_closed", &["status", "reason"]),
    ("artifact", &["kind", "title"]),
    ("worker_update", &["worker_name", "status", "worker_task"]),
    ("mcp_notification", &["server", "method"]),
    ("capability_gap", &["capability", "message"]),
    ("typed_checkpoint", &["checkpoint"]),
    ("plan", &["plan"]),
];

/// A text is not looked at beyond this many characters, because no line is so long.
const TEXT_CHARACTERS_MAX: usize = 500;

/// What a record of this kind says.
pub(in crate::commands) fn of(kind: &str, payload: &[u8]) -> String {
    match serde_json::from_slice(payload) {
        Ok(payload) => of_payload(kind, &payload),
        Err(_) => "(the payload is not JSON)".to_owned(),
    }
}

/// The same where the payload was parsed.
pub(in crate::commands) fn of_payload(kind: &str, payload: &Value) -> String {
    match payload {
        Value::Object(fields) => match fields.get("event") {
            Some(Value::Object(event)) if event.contains_key("type") => of_event(kind, event),
            _ => by_field(fields, &[]),
        },
        Value::Null => String::new(),
        other => text_of(other),
    }
}

fn of_event(kind: &str, event: &Map<String, Value>) -> String {
    match STORIES.iter().find(|(known, _)| *known == kind) {
        None => by_field(event, &["type", "session_id"]),
        Some((_, names)) => {
            let fields = names.iter().filter_map(|name| event.get(*name));
            let texts: Vec<String> = fields.map(text_of).collect();
            let told: Vec<&str> = texts
                .iter()
                .map(String::as_str)
                .filter(|text| !text.is_empty())
                .collect();
            told.join(" ")
        }
    }
}

/// `name=value` for every field that has a value.
fn by_field(fields: &Map<String, Value>, but: &[&str]) -> String {
    let fields = fields
        .iter()
        .filter(|(name, value)| !value.is_null() && !but.contains(&name.as_str()));
    let texts: Vec<String> = fields
        .map(|(name, value)| format!("{name}={}", shortened(&value.to_string())))
        .collect();
    texts.join(" ")
}

/// A text as it is, texts of a message one after the other, the rest as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => shortened(text),
        Value::Array(parts) if !parts.is_empty() && parts.iter().all(|one| part(one).is_some()) => {
            let texts: Vec<&str> = parts.iter().filter_map(part).collect();
            shortened(&texts.join(" "))
        }
        other => shortened(&other.to_string()),
    }
}

/// The text of a part of a message.
fn part(value: &Value) -> Option<&str> {
    value.get("text")?.as_str()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARACTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: &str, payload: Value, expected: &str) {
        assert_eq!(of(kind, payload.to_string().as_bytes()), expected);
    }

    #[track_caller]
    fn check_event(event: Value, expected: &str) {
        let kind = event["type"].as_str().unwrap().to_owned();
        let payload = json!({"index": 0, "session_id": "s", "event": event});
        check(&kind, payload, expected);
    }

    #[test]
    fn agent_events_tell_their_story() {
        check_event(
            json!({"type": "agent_message_chunk", "session_id": "s", "content": "Hello."}),
            "Hello.",
        );
        check_event(
            json!({"type": "tool_call", "session_id": "s", "tool_call_id": "t1",
                   "tool_name": "read", "status": "pending", "raw_input": {"path": "a"}}),
            r#"read {"path":"a"}"#,
        );
        check_event(
            json!({"type": "tool_call_update", "session_id": "s", "tool_name": "read",
                   "status": "failed", "error": "no such file", "raw_output": null}),
            "read failed no such file",
        );
        check_event(
            json!({"type": "user_message", "session_id": "s",
                   "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            "a b",
        );
    }

    #[test]
    fn events_without_a_story_are_told_field_by_field() {
        check_event(
            json!({"type": "iteration_start", "session_id": "s", "iteration": 1, "model": "m",
                   "provider": null}),
            r#"iteration=1 model="m""#,
        );
    }

    #[test]
    fn other_payloads_are_told_as_they_are() {
        check(
            "placed",
            json!({"id": 7, "to": {"city": "Ulm"}}),
            r#"id=7 to={"city":"Ulm"}"#,
        );
        check("noted", json!("text"), "text");
        check("noted", json!([1, 2]), "[1,2]");
        check("noted", Value::Null, "");
        assert_eq!(of("noted", b"{"), "(the payload is not JSON)");
    }

    #[test]
    fn an_endless_text_has_an_end() {
        let long = "ä".repeat(10_000);
        let told = of("noted", json!(long).to_string().as_bytes());
        assert_eq!(told.chars().count(), TEXT_CHARACTERS_MAX + 1);
    }
}
