//! Messages in the shapes that providers take them.

use std::sync::Arc;

use harn_events::AgentEvent;
use harn_llm::options::value::display;
use harn_llm::sorted_json;
use harn_llm::wire::Wire;
use harn_llm::{Messages, Reply};
use serde_json::{Value, json};

use super::turn::Call;
use crate::frames;

/// How a provider wants calls and their results in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    OpenAi,
    Anthropic,
    Ollama,
}

impl Family {
    /// The family of a provider's wire; who is not configured is spoken to like OpenAI.
    pub(super) fn of(wire: Option<Wire>) -> Self {
        match wire {
            Some(Wire::Anthropic) => Self::Anthropic,
            Some(Wire::Ollama) => Self::Ollama,
            _ => Self::OpenAi,
        }
    }

    /// An assistant's turn with calls. What was put together is moved in: `json!` would copy it.
    pub(super) fn assistant(self, text: &str, calls: &[Call]) -> Value {
        let calls = calls.iter();
        match self {
            Self::OpenAi => {
                let calls = calls.map(|call| function_call(call, sorted_json(&call.arguments)));
                with_calls(text, calls.collect())
            }
            Self::Ollama => {
                let calls = calls.map(|call| function_call(call, call.arguments.clone()));
                with_calls(text, calls.collect())
            }
            Self::Anthropic => {
                let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
                let uses = calls.map(|call| {
                    json!({
                        "type": "tool_use",
                        "id": call.model_id,
                        "name": call.name,
                        "input": call.arguments,
                    })
                });
                let mut message = json!({"role": "assistant"});
                message["content"] = said.into_iter().chain(uses).collect();
                message
            }
        }
    }

    /// The result of a call.
    pub(super) fn result(self, call: &Call, content: &str) -> Value {
        match self {
            Self::OpenAi => json!({
                "role": "tool",
                "tool_call_id": call.model_id,
                "content": content,
            }),
            Self::Ollama => json!({
                "role": "tool",
                "tool_name": call.name,
                "content": content,
            }),
            Self::Anthropic => json!({
                "role": "user",
                "content": [{
                    "type": "tool_result",
                    "tool_use_id": call.model_id,
                    "content": content,
                }],
            }),
        }
    }
}

fn with_calls(text: &str, calls: Vec<Value>) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    message["tool_calls"] = Value::Array(calls);
    message
}

fn function_call(call: &Call, arguments: impl Into<Value>) -> Value {
    let mut function = json!({"name": call.name});
    function["arguments"] = arguments.into();
    let mut asked = json!({"id": call.model_id, "type": "function"});
    asked["function"] = function;
    asked
}

/// Adds to a turn what its provider must get back to the letter. Calls that the turn does not
/// have, because nobody makes them or they were answered otherwise, are left out: they would
/// want a result.
pub(super) fn with_kept(mut message: Value, reply: &Reply, wire: Option<Wire>) -> Value {
    let Some(wire) = wire else {
        return message;
    };
    let blocks = reply.kept.iter();
    let blocks = blocks.filter(|block| has_place(block, &message)).cloned();
    let mut blocks: Vec<Value> = blocks.collect();
    let are_written = reply.tool_calls.is_empty() && calls_of(&message).next().is_some();
    match wire {
        // Calls that were written as text are none of the provider's; it gets them all the same.
        Wire::Anthropic if are_written && !blocks.is_empty() => {
            blocks.extend(calls_of(&message).cloned());
        }
        Wire::Responses | Wire::Gemini if are_written => blocks.clear(),
        _ => {}
    }
    if !blocks.is_empty() {
        message["kept"] = json!({"wire": wire.name(), "blocks": blocks});
    }
    message
}

/// The calls of a turn, whatever shape it has.
fn calls_of(message: &Value) -> impl Iterator<Item = &Value> {
    let listed = message["tool_calls"].as_array().into_iter().flatten();
    let written = message["content"].as_array().into_iter().flatten();
    listed.chain(written.filter(|block| block["type"] == "tool_use"))
}

/// What the model sees of a conversation, from turn to turn: what it has seen before is not
/// looked at again.
#[derive(Default)]
pub(super) struct ToldToModel {
    said: Messages,
    told: Messages,
}

impl ToldToModel {
    /// What it sees of this one. A result whose call was compacted away is told in words:
    /// providers refuse a conversation that has a result without its call.
    pub(super) fn of(&mut self, messages: &Messages) -> Messages {
        let known = self.said.common_prefix(messages);
        self.told.truncate(known);
        let mut newest_first = (0..known).rev().filter_map(|at| messages.get(at));
        let turn = newest_first.find(|message| message["role"] == "assistant");
        let mut open = turn.map_or_else(Vec::new, ids_of_calls);
        for message in (known..messages.len()).filter_map(|at| messages.share(at)) {
            if message["role"] == "assistant" {
                open = ids_of_calls(&message);
            }
            let in_words = told_in_words(&message, &open);
            self.told.push(in_words.map_or(message, Arc::new));
        }
        self.said.clone_from(messages);
        self.told.clone()
    }
}

fn ids_of_calls(turn: &Value) -> Vec<String> {
    let ids = calls_of(turn).map(|call| call["id"].as_str().unwrap_or_default());
    ids.map(str::to_owned).collect()
}

/// A message with results of calls that are not open; `None`: it has none.
fn told_in_words(message: &Value, open: &[String]) -> Option<Value> {
    let is_known = |id: &Value| match id.as_str() {
        Some(id) => open.iter().any(|open| open == id),
        // Some servers know results by the name of their tool and by nothing else.
        None => !open.is_empty(),
    };
    if matches!(message["role"].as_str(), Some("tool" | "tool_result")) {
        let id = message.get("tool_call_id").or(message.get("tool_use_id"));
        let is_told = is_known(id.unwrap_or(&Value::Null));
        let words = || json!({"role": "user", "content": in_words(&message["content"])});
        return (!is_told).then(words);
    }
    let is_told = |block: &Value| block["type"] != "tool_result" || is_known(&block["tool_use_id"]);
    let blocks = message["content"].as_array()?;
    if blocks.iter().all(is_told) {
        return None;
    }
    let mut message = message.clone();
    let blocks = message["content"].as_array_mut().into_iter().flatten();
    for block in blocks.filter(|block| !is_told(block)) {
        *block = json!({"type": "text", "text": in_words(&block["content"])});
    }
    Some(message)
}

fn in_words(result: &Value) -> String {
    let result = display(result);
    format!("[result of an earlier call]\n{}", frames::inside(&result))
}

/// Whether a block that was kept is no call, or one of the calls of a message.
fn has_place(block: &Value, message: &Value) -> bool {
    let mut calls = calls_of(message);
    match block["type"].as_str() {
        Some("tool_use") => calls.any(|call| call["id"] == block["id"]),
        Some("function_call") => calls.any(|call| call["id"] == block["call_id"]),
        // These have no ids.
        _ if block["functionCall"].is_object() => calls.next().is_some(),
        _ => true,
    }
}

/// What is told about a user message that has an identity.
pub(crate) fn user_message_event(session_id: &str, message: &Value) -> Option<AgentEvent> {
    if message["role"] != "user" {
        return None;
    }
    let id = |key| message.get(key).and_then(Value::as_str);
    let mut ids = ["messageId", "message_id"].into_iter().filter_map(id);
    let id = ids.find(|id| !id.trim().is_empty())?;
    let content = match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        other => vec![json!({"type": "text", "text": sorted_json(other)})],
    };
    Some(AgentEvent::UserMessage {
        session_id: session_id.to_owned(),
        message_id: id.to_owned(),
        content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_first_of_its_ids_that_says_something() {
        for (message, expected) in [
            (json!({"messageId": "a", "message_id": "b"}), Some("a")),
            (json!({"messageId": null, "message_id": "b"}), Some("b")),
            (json!({"messageId": " ", "message_id": "b"}), Some("b")),
            (json!({"messageId": 1, "message_id": ""}), None),
            (json!({}), None),
        ] {
            let mut said = message.clone();
            said["role"] = json!("user");
            said["content"] = json!("hi");
            let told = user_message_event("s", &said).map(|event| match event {
                AgentEvent::UserMessage { message_id, .. } => message_id,
                other => panic!("{other:?}"),
            });
            assert_eq!(told.as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn calls_that_nobody_makes_are_not_kept() {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let reply = Reply {
            kept: vec![thought.clone(), call("a"), call("ledger")],
            tool_calls: vec![harn_llm::ToolCall::default(); 2],
            ..Reply::default()
        };
        let rows = [
            (json!({"content": [call("a")]}), json!([thought, call("a")])),
            (
                json!({"content": "", "tool_calls": [{"id": "a"}]}),
                json!([thought, call("a")]),
            ),
            (json!({"content": "words"}), json!([thought])),
        ];
        for (message, blocks) in rows {
            let kept = with_kept(message, &reply, Some(Wire::Anthropic));
            assert_eq!(kept["kept"]["blocks"], blocks);
        }
        let only_a_call = Reply {
            kept: vec![call("a")],
            ..Reply::default()
        };
        let message = json!({"content": "words"});
        let kept = with_kept(message.clone(), &only_a_call, Some(Wire::Anthropic));
        assert_eq!(kept, message);
    }

    #[test]
    fn a_call_that_was_written_as_text_is_kept_with_the_thoughts() {
        let call = json!({"type": "tool_use", "id": "tc_0", "name": "t", "input": {}});
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let reply = Reply {
            kept: vec![thought.clone()],
            ..Reply::default()
        };
        let message = json!({"role": "assistant", "content": [call]});
        let kept = with_kept(message, &reply, Some(Wire::Anthropic));
        assert_eq!(kept["kept"]["blocks"], json!([thought, call]));
    }

    #[test]
    fn a_result_without_its_call_is_told_in_words() {
        let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
        let words = "[result of an earlier call]\nr";
        let rows = [
            (json!([call, result("a")]), json!([call, result("a")])),
            (
                json!([result("a"), call, result("b")]),
                json!([
                    {"role": "user", "content": words}, call, {"role": "user", "content": words},
                ]),
            ),
            (
                json!([{"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "r"},
                ]}]),
                json!([{"role": "user", "content": [{"type": "text", "text": words}]}]),
            ),
            (
                json!([{"role": "tool", "tool_name": "t", "content": "r"}]),
                json!([{"role": "user", "content": words}]),
            ),
        ];
        for (messages, expected) in rows {
            let messages: Messages = serde_json::from_value(messages).unwrap();
            assert_eq!(json!(ToldToModel::default().of(&messages)), expected);
            // Told message by message it is the same.
            let mut told = ToldToModel::default();
            let mut said = Messages::default();
            for message in &messages {
                said.push(message.clone());
                told.of(&said);
            }
            assert_eq!(json!(told.of(&said)), expected);
        }
    }
}
