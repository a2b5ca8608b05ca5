//! What happens in a session, as its followers are told.

use std::sync::Weak;

use harn_vm::agent::AgentEventSink;
use harn_vm::agent::events::{AgentEvent, ToolCallStatus};
use serde_json::{Value, json};

use super::Session;

/// Tells the followers of a session what happens.
pub(super) struct Updates(Weak<Session>);

impl Updates {
    pub(super) fn new(session: Weak<Session>) -> Self {
        Self(session)
    }
}

impl AgentEventSink for Updates {
    fn handle_event(&self, event: &AgentEvent) {
        let (Some(session), Some(update)) = (self.0.upgrade(), update(event)) else {
            return;
        };
        for peer in session.peers().iter() {
            let parameters = json!({"sessionId": session.id, "update": update});
            peer.notify("session/update", parameters);
        }
    }
}

fn update(event: &AgentEvent) -> Option<Value> {
    let text = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    Some(match event {
        AgentEvent::AgentMessageChunk { content, .. } => text("agent_message_chunk", content),
        AgentEvent::AgentThoughtChunk { content, .. } => text("agent_thought_chunk", content),
        AgentEvent::ToolCall {
            tool_call_id,
            tool_name,
            raw_input,
            parsing: None,
            ..
        } => json!({
            "sessionUpdate": "tool_call",
            "toolCallId": tool_call_id,
            "title": tool_name,
            "status": "pending",
            "rawInput": raw_input,
        }),
        AgentEvent::ToolCallUpdate {
            tool_call_id,
            status,
            raw_output,
            parsing: None,
            ..
        } => json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": tool_call_id,
            "status": match status {
                ToolCallStatus::Pending => "pending",
                ToolCallStatus::InProgress => "in_progress",
                ToolCallStatus::Completed => "completed",
                ToolCallStatus::Failed => "failed",
            },
            "rawOutput": raw_output,
        }),
        _ => return None,
    })
}
