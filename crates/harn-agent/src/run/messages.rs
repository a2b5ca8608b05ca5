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

/// Adds to a turn what its provider must get back to the letter.
pub(super) fn with_kept(mut message: Value, reply: &Reply, wire: Option<Wire>) -> Value {
    if let (Some(wire), false) = (wire, reply.kept.is_empty()) {
        message["kept"] = json!({"wire": wire.name(), "blocks": reply.kept});
    }
    message
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
