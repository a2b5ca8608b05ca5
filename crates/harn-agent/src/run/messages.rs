//! Messages in the shapes that providers take them.

use harn_events::AgentEvent;
use harn_llm::Reply;
use harn_llm::wire::Wire;
use serde_json::{Value, json};

use super::turn::Call;

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

    /// An assistant's turn with calls.
    pub(super) fn assistant(self, text: &str, calls: &[Call]) -> Value {
        match self {
            Self::OpenAi => json!({
                "role": "assistant",
                "content": text,
                "tool_calls": calls.iter().map(|call| json!({
                    "id": call.model_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments.to_string()},
                })).collect::<Vec<_>>(),
            }),
            Self::Ollama => json!({
                "role": "assistant",
                "content": text,
                "tool_calls": calls.iter().map(|call| json!({
                    "id": call.model_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                })).collect::<Vec<_>>(),
            }),
            Self::Anthropic => {
                let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
                let uses = calls.iter().map(|call| {
                    json!({
                        "type": "tool_use",
                        "id": call.model_id,
                        "name": call.name,
                        "input": call.arguments,
                    })
                });
                let content: Vec<Value> = said.into_iter().chain(uses).collect();
                json!({"role": "assistant", "content": content})
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

/// Adds to a turn what its provider must get back to the letter. Calls that the turn does not
/// have, because nobody makes them or they were answered otherwise, are left out: they would
/// want a result.
pub(super) fn with_kept(mut message: Value, reply: &Reply, wire: Option<Wire>) -> Value {
    let blocks = reply.kept.iter();
    let blocks: Vec<&Value> = blocks.filter(|block| has_place(block, &message)).collect();
    if let (Some(wire), false) = (wire, blocks.is_empty()) {
        message["kept"] = json!({"wire": wire.name(), "blocks": blocks});
    }
    message
}

/// Whether a block that was kept is no call, or one of the calls of a message.
fn has_place(block: &Value, message: &Value) -> bool {
    let listed = message["tool_calls"].as_array().into_iter().flatten();
    let written = message["content"].as_array().into_iter().flatten();
    let written = written.filter(|block| block["type"] == "tool_use");
    let mut calls = listed.chain(written);
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
    let id = message
        .get("messageId")
        .or_else(|| message.get("message_id"));
    let id = id
        .and_then(Value::as_str)
        .filter(|id| !id.trim().is_empty())?;
    let content = match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        other => vec![json!({"type": "text", "text": other.to_string()})],
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
    fn calls_that_nobody_makes_are_not_kept() {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let reply = Reply {
            kept: vec![thought.clone(), call("a"), call("ledger")],
            ..Reply::default()
        };
        let rows = [
            (json!({"content": [call("a")]}), json!([thought, call("a")])),
            (json!({"content": "", "tool_calls": [{"id": "a"}]}), json!([thought, call("a")])),
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
}
