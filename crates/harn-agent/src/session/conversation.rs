//! What was said in a session, as people read it.
//!
//! Providers want calls and their results in shapes of their own; here a call has its result
//! beside it, whoever was asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::state::SessionState;
use super::stored_reply::StoredReply;

/// What programs are told about calls where there is no channel for results.
pub(crate) const TEXT_RESULTS: &str = "<runtime_feedback kind=\"tool_results\">";

/// A part of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Somebody says something and may call tools.
    Said {
        /// Who.
        role: String,
        /// What.
        text: String,
        /// The calls that are made with it.
        calls: Vec<Call>,
    },
    /// The model sees this instead of messages before it: the first and the last of them.
    Summary {
        /// The first and the last of them.
        replaced: (usize, usize),
        /// What the model sees.
        text: String,
    },
}

/// A call and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id that the model knows it by; may be empty.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// What came of it, if something did.
    pub result: Option<String>,
}

/// Everything that was ever said, in order.
pub fn of(state: &SessionState) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut summaries = summaries(state);
    for (at, message) in state.recorded.iter().enumerate() {
        add(&mut parts, message);
        parts.extend(summaries.remove(&at).into_iter().flatten());
    }
    if let Some(unread) = &state.unread {
        parts.push(answered(unread));
    }
    // Their messages come a moment later, or never, if the process has died.
    let known = state.untold.iter().filter(|call| call.has_channel);
    for call in known {
        if let Some(result) = &call.result {
            attach(&mut parts, &call.model_id, result.clone());
        }
    }
    parts
}

/// An answer that is no message yet.
fn answered(reply: &StoredReply) -> Part {
    let calls = reply.tool_calls.iter().map(|call| Call {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.to_string(),
        result: None,
    });
    said("assistant", reply.text.clone(), calls.collect())
}

fn add(parts: &mut Vec<Part>, message: &Value) {
    let role = message["role"].as_str().unwrap_or("unknown");
    let text = text_of(&message["content"]);
    let results = results_in(role, message);
    if !results.is_empty() {
        for (id, result) in results {
            if let Some(result) = attach(parts, &id, result) {
                parts.push(said("tool", result, Vec::new()));
            }
        }
        return;
    }
    match text.starts_with(TEXT_RESULTS) {
        true => parts.push(said("tool", text, Vec::new())),
        false => parts.push(said(role, text, calls_in(message))),
    }
}

fn said(role: &str, text: String, calls: Vec<Call>) -> Part {
    Part::Said {
        role: role.to_owned(),
        text,
        calls,
    }
}

/// Puts a result beside its call, or gives it back. One without an id belongs to the first
/// call of the last turn that has none.
fn attach(parts: &mut [Part], id: &str, result: String) -> Option<String> {
    for part in parts.iter_mut().rev() {
        let Part::Said { calls, .. } = part else {
            continue;
        };
        let is_meant = |call: &&mut Call| call.result.is_none() && (id.is_empty() || call.id == id);
        if let Some(call) = calls.iter_mut().find(is_meant) {
            call.result = Some(result);
            return None;
        }
    }
    Some(result)
}

/// The calls of a message, in any shape.
fn calls_in(message: &Value) -> Vec<Call> {
    let call = |id: &Value, name: &Value, arguments: &Value| Call {
        id: id.as_str().unwrap_or_default().to_owned(),
        name: name.as_str().unwrap_or_default().to_owned(),
        arguments: match arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
        result: None,
    };
    let listed = message["tool_calls"].as_array().into_iter().flatten();
    let listed = listed.map(|one| {
        let function = one.get("function").unwrap_or(one);
        call(&one["id"], &function["name"], &function["arguments"])
    });
    let blocks = message["content"].as_array().into_iter().flatten();
    let blocks = blocks.filter(|block| block["type"] == "tool_use");
    let blocks = blocks.map(|block| call(&block["id"], &block["name"], &block["input"]));
    listed.chain(blocks).collect()
}

/// The results of a message, in any shape, with the ids of their calls.
fn results_in(role: &str, message: &Value) -> Vec<(String, String)> {
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if matches!(role, "tool" | "tool_result") {
        return vec![(id(&message["tool_call_id"]), text_of(&message["content"]))];
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    let blocks = blocks.filter(|block| block["type"] == "tool_result");
    blocks
        .map(|block| (id(&block["tool_use_id"]), text_of(&block["content"])))
        .collect()
}

/// The summaries, by the last of the messages that each stands for.
fn summaries(state: &SessionState) -> BTreeMap<usize, Vec<Part>> {
    let mut summaries: BTreeMap<usize, Vec<Part>> = BTreeMap::new();
    for (message, (first, last)) in state.messages.iter().zip(&state.origins) {
        let itself = state.recorded.get(*first).filter(|_| first == last);
        // Nearly all are the very message that was recorded, and need not be compared.
        let is_itself = |recorded: &Value| std::ptr::eq(recorded, message) || recorded == message;
        if !itself.is_some_and(is_itself) {
            summaries.entry(*last).or_default().push(Part::Summary {
                replaced: (*first, *last),
                text: text_of(&message["content"]),
            });
        }
    }
    summaries
}

/// The text of a message: that of its blocks, if it has some.
fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.clone()),
                block => match block["type"].as_str() {
                    Some("tool_use" | "tool_result") => None,
                    Some("text") | None => block["text"].as_str().map(str::to_owned),
                    Some(other) => Some(format!("[{other}]")),
                },
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{CallOutcome, Change};
    use serde_json::json;

    fn state(messages: &[Value]) -> SessionState {
        let mut state = SessionState::default();
        for message in messages {
            let message = message.clone();
            state.apply(Change::MessageAdded { message });
        }
        state
    }

    fn expected(result: Option<&str>) -> Vec<Part> {
        vec![
            said("user", "Go".to_owned(), Vec::new()),
            said(
                "assistant",
                "I read.".to_owned(),
                vec![Call {
                    id: "1".to_owned(),
                    name: "read".to_owned(),
                    arguments: r#"{"path":"a"}"#.to_owned(),
                    result: result.map(str::to_owned),
                }],
            ),
        ]
    }

    #[test]
    fn results_are_beside_their_calls_in_every_shape() {
        let user = json!({"role": "user", "content": "Go"});
        let of_open_ai = [
            user.clone(),
            json!({"role": "assistant", "content": "I read.", "tool_calls": [{"id": "1",
                "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]}),
            json!({"role": "tool", "tool_call_id": "1", "content": "text"}),
        ];
        let of_anthropic = [
            user.clone(),
            json!({"role": "assistant", "content": [{"type": "text", "text": "I read."},
                {"type": "tool_use", "id": "1", "name": "read", "input": {"path": "a"}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
                "content": "text"}]}),
        ];
        let of_ollama = [
            user,
            json!({"role": "assistant", "content": "I read.", "tool_calls": [{"id": "1",
                "function": {"name": "read", "arguments": {"path": "a"}}}]}),
            json!({"role": "tool", "tool_name": "read", "content": "text"}),
        ];
        for messages in [of_open_ai, of_anthropic, of_ollama] {
            assert_eq!(of(&state(&messages)), expected(Some("text")));
            assert_eq!(of(&state(&messages[..2])), expected(None));
        }
    }

    #[test]
    fn what_was_received_is_shown_before_it_is_a_message() {
        let call = json!({"id": "1", "name": "read", "arguments": {"path": "a"}});
        let reply = json!({"text": "I read.", "tool_calls": [call]});
        let mut state = state(&[json!({"role": "user", "content": "Go"})]);
        state.apply(Change::Answered {
            text: String::new(),
            input_tokens: 0,
            output_tokens: 0,
            cost_usd: 0.0,
            reply: Some(Box::new(serde_json::from_value(reply).unwrap())),
        });
        assert_eq!(of(&state), expected(None));
        let listed = json!({"id": "tool-1", "model_id": "1", "name": "read", "has_channel": true});
        let calls = vec![serde_json::from_value(listed).unwrap()];
        state.apply(Change::CallsListed { calls });
        let message = json!({"role": "assistant", "content": "I read.", "tool_calls": [{
            "id": "1", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]});
        state.apply(Change::MessageAdded { message });
        assert_eq!(of(&state), expected(None));
        state.apply(Change::CallFinished {
            id: "tool-1".to_owned(),
            name: "read".to_owned(),
            outcome: CallOutcome::Ok,
            text: "text".to_owned(),
        });
        assert_eq!(of(&state), expected(Some("text")));
    }

    #[test]
    fn a_result_without_a_call_stands_for_itself() {
        let messages = [json!({"role": "tool", "tool_call_id": "9", "content": "late"})];
        let alone = said("tool", "late".to_owned(), Vec::new());
        assert_eq!(of(&state(&messages)), [alone]);
    }

    #[test]
    fn a_summary_stands_after_what_it_replaces() {
        let say = |text: &str| json!({"role": "user", "content": text});
        let mut state = state(&[say("a"), say("b"), say("c")]);
        state.apply(Change::Compacted {
            keep_first: 0,
            split: 2,
            replaced: (0, 1),
            message: say("a and b"),
        });
        let said = |text: &str| said("user", text.to_owned(), Vec::new());
        let summary = Part::Summary {
            replaced: (0, 1),
            text: "a and b".to_owned(),
        };
        assert_eq!(of(&state), [said("a"), said("b"), summary, said("c")]);
    }
}
