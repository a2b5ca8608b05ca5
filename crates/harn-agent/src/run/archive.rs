//! The tool that reads back what was compacted.
//!
//! A summary is short because it leaves things out. What it stands for is still in the
//! journal, and a model that misses something can ask for it.

use harn_llm::ToolSpec;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::Run;

/// What the model calls it.
pub(super) const NAME: &str = "read_archived_messages";

/// How many messages are shown at once.
const MESSAGES_MAX: usize = 20;

/// How much of each is shown.
const MESSAGE_CHARS_MAX: usize = 4000;

/// What the model is told about it.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description: "Read earlier messages of this conversation that were replaced by a summary. \
                      Without arguments it says which positions can be read."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "from": {"type": "integer", "description": "The first position, from 0."},
                "to": {"type": "integer", "description": "The last position."},
            },
            "required": [],
            "additionalProperties": false,
        }),
        ..ToolSpec::default()
    }
}

/// What it says.
pub(super) fn read(run: &Run<'_>, arguments: &Value) -> String {
    run.session.read(|state| {
        let archived: Vec<(usize, usize)> = state
            .origins
            .iter()
            .copied()
            .filter(|(first, last)| first != last)
            .collect();
        let position = |key: &str| {
            let given = arguments.get(key).and_then(Value::as_u64)?;
            usize::try_from(given).ok()
        };
        let Some(from) = position("from") else {
            return ranges(&archived);
        };
        let to = position("to").unwrap_or(from);
        let to = to.min(from.saturating_add(MESSAGES_MAX - 1));
        let last = state.recorded.len();
        if from >= last || to < from {
            return format!(
                "Error: there are no messages from {from} to {to}; {}",
                ranges(&archived)
            );
        }
        let messages = state
            .recorded
            .iter_from(from)
            .take((to + 1).min(last) - from);
        let lines = messages.enumerate().map(|(at, message)| {
            let role = message["role"].as_str().unwrap_or("user");
            format!("[{}] {role}: {}", from + at, shown(&message["content"]))
        });
        lines.collect::<Vec<String>>().join("\n\n")
    })
}

fn ranges(archived: &[(usize, usize)]) -> String {
    let ranges: Vec<String> = archived
        .iter()
        .map(|(first, last)| format!("{first} to {last}"))
        .collect();
    match ranges.is_empty() {
        true => "nothing was archived".to_owned(),
        false => format!("archived messages: {}", ranges.join(", ")),
    }
}

fn shown(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        other => display(other),
    };
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{} … (cut)", &text[..end]),
        None => text,
    }
}
