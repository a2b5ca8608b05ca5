//! A session from the file in which model calls are written down.

use harn_llm::desk::Thrown;
use serde_json::{Map, Value, json};

use super::{Call, lifecycle};
use crate::fence::refused;
use crate::real_path::read_text;
use crate::session::{Change, Content, kept};

/// `agent_session_seed_from_jsonl(path, opts?)`. Options: `session_id` (or `id`) names the
/// session, `parent` links it. A session of that name says from now on what the file says.
pub(super) async fn seed(call: Call<'_>) -> Result<Value, Thrown> {
    let path = call.text(0, "path")?;
    let options = call.options(1)?;
    let named = call.option_text(&options, "session_id")?;
    let named = named.or(call.option_text(&options, "id")?);
    let id = named.map_or_else(|| call.runtime.new_id(), str::to_owned);
    if call.is_running(&id) {
        return call.refuse(format!("session '{id}' has a running loop"));
    }
    let place = call.runtime.folder.join(path);
    call.runtime.fence.read(&place).map_err(refused)?;
    let text = match read_text(&place) {
        Ok(text) => text,
        Err(error) => return call.refuse(format!("cannot read '{path}': {error}")),
    };
    let read = Reading::of(&text);
    if read.messages.is_empty() {
        return call.refuse(format!("'{path}' holds no messages"));
    }
    let parent = lifecycle::parent_in(call, &options, &id)?;
    let session = call.open(&id).await?;
    let message_count = read.messages.len();
    session.record(Change::Forked {
        content: Box::new(Content::of_messages(read.messages)),
    });
    if let Some(system) = read.system {
        session.keep(kept::SYSTEM_PROMPT, json!(system));
    }
    if let Some(parent) = parent {
        call.runtime.sessions().link(&parent, &id, None);
    }
    Ok(json!({
        "ok": true,
        "session_id": id,
        "message_count": message_count,
        "skipped_lines": read.skipped_lines,
    }))
}

/// What a file says. The messages are those of its last conversation.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    messages: Vec<Value>,
    system: Option<String>,
    skipped_lines: usize,
    /// Messages that are new in the call that is about to be read.
    new: Vec<Value>,
}

impl Reading {
    fn of(text: &str) -> Self {
        let mut reading = Self::default();
        let mut answer = None;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            // A process that was killed leaves half a line.
            let Ok(Value::Object(record)) = serde_json::from_str(line) else {
                reading.skipped_lines += 1;
                continue;
            };
            match record.get("type").and_then(Value::as_str) {
                Some("message") => reading.new.extend(message(&record)),
                Some("system_prompt") => {
                    let content = record.get("content").and_then(Value::as_str);
                    reading.system = content.map(str::to_owned);
                }
                Some("provider_call_request") => {
                    reading.take_over(&record);
                    answer = None;
                }
                Some("provider_call_response") => answer = said(&record),
                _ => {}
            }
        }
        reading.messages.append(&mut reading.new);
        // The last answer was never part of a question.
        reading.messages.extend(answer);
        reading
    }

    /// A request says how many messages it had, and those that are new were written before it.
    /// So the others are the first ones of before.
    fn take_over(&mut self, request: &Map<String, Value>) {
        let count = request.get("message_count").and_then(Value::as_u64);
        if let Some(count) = count.and_then(|count| usize::try_from(count).ok()) {
            let known = count.saturating_sub(self.new.len());
            self.messages.truncate(known);
        }
        self.messages.append(&mut self.new);
    }
}

/// The message of a record: the whole of it, or its role and content.
fn message(record: &Map<String, Value>) -> Option<Value> {
    if let Some(message @ Value::Object(fields)) = record.get("message")
        && fields.get("role").is_some_and(Value::is_string)
    {
        return Some(message.clone());
    }
    let role = record.get("role").filter(|role| role.is_string())?;
    let content = record.get("content").cloned().unwrap_or_default();
    Some(json!({"role": role, "content": content}))
}

/// What a model said to people.
fn said(record: &Map<String, Value>) -> Option<Value> {
    let text = record.get("text").and_then(Value::as_str)?;
    let is_said = !text.trim().is_empty();
    is_said.then(|| json!({"role": "assistant", "content": text}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Value]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let read = Reading::of(&lines.join("\n"));
        let texts = read.messages.iter();
        texts
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect()
    }

    fn new(content: &str) -> Value {
        json!({"type": "message", "role": "user", "content": content})
    }

    fn request(message_count: usize) -> Value {
        json!({"type": "provider_call_request", "message_count": message_count})
    }

    fn response(text: &str) -> Value {
        json!({"type": "provider_call_response", "text": text})
    }

    #[test]
    fn the_last_conversation_is_read() {
        let rows: [(&[Value], &[&str]); 5] = [
            (&[new("a"), new("b")], &["a", "b"]),
            (
                &[
                    new("q"),
                    request(1),
                    response("a"),
                    new("a"),
                    new("r"),
                    request(3),
                ],
                &["q", "a", "r"],
            ),
            (&[new("q"), request(1), response("a")], &["q", "a"]),
            (
                &[new("q"), new("x"), request(2), new("short"), request(1)],
                &["short"],
            ),
            (&[new("q"), request(1), request(1), response(" ")], &["q"]),
        ];
        for (lines, expected) in rows {
            assert_eq!(texts(lines), expected);
        }
    }

    #[test]
    fn a_torn_line_is_skipped_and_whole_messages_are_preferred() {
        let whole = json!({"role": "tool", "tool_call_id": "1", "content": "r"});
        let record = json!({"type": "message", "role": "tool", "content": "r", "message": whole});
        let system = json!({"type": "system_prompt", "content": "Be kind."});
        let text = format!("{system}\n\n{record}\n{{\"type\": \"mess");
        let read = Reading::of(&text);
        assert_eq!(read.messages, [whole]);
        assert_eq!(read.system.as_deref(), Some("Be kind."));
        assert_eq!(read.skipped_lines, 1);
    }
}
