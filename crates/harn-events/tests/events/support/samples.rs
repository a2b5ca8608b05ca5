//! Events to send around.

use harn_events::AgentEvent;
use serde_json::{Value, json};

/// The event that this object is on the wire.
#[track_caller]
pub(crate) fn event(object: Value) -> AgentEvent {
    serde_json::from_value(object).expect("the sample is an event")
}

/// A piece of reply; its text tells it apart.
pub(crate) fn message(session: &str, text: &str) -> AgentEvent {
    event(json!({"type": "agent_message_chunk", "session_id": session, "content": text}))
}

/// The text of a message, and the tag of anything else.
pub(crate) fn text_of(event: &AgentEvent) -> String {
    match event {
        AgentEvent::AgentMessageChunk { content, .. } => content.clone(),
        other => other.tag().to_owned(),
    }
}

pub(crate) fn tool_call(session: &str, id: &str) -> AgentEvent {
    tool_call_with(session, id, json!({}))
}

pub(crate) fn tool_call_with(session: &str, id: &str, raw_input: Value) -> AgentEvent {
    event(json!({
        "type": "tool_call", "session_id": session, "tool_call_id": id, "tool_name": "read",
        "kind": null, "status": "pending", "raw_input": raw_input,
    }))
}

/// A call spotted in streaming text.
pub(crate) fn candidate(session: &str, id: &str) -> AgentEvent {
    event(json!({
        "type": "tool_call", "session_id": session, "tool_call_id": id, "tool_name": "read",
        "kind": null, "status": "pending", "raw_input": {}, "parsing": true,
    }))
}

pub(crate) fn tool_update(session: &str, id: &str, status: &str) -> AgentEvent {
    event(json!({
        "type": "tool_call_update", "session_id": session, "tool_call_id": id,
        "tool_name": "read", "status": status, "raw_output": null, "error": null,
    }))
}

pub(crate) fn iteration_start(session: &str, iteration: u64) -> AgentEvent {
    event(json!({"type": "iteration_start", "session_id": session, "iteration": iteration}))
}

pub(crate) fn iteration_end(session: &str, iteration: u64) -> AgentEvent {
    event(json!({
        "type": "iteration_end", "session_id": session, "iteration": iteration,
        "iteration_info": {},
    }))
}

pub(crate) fn checkpoint(session: &str, iteration: u64, kind: &str) -> AgentEvent {
    event(json!({
        "type": "loop_checkpoint", "session_id": session, "iteration": iteration,
        "kind": kind, "delivered": 0,
    }))
}

pub(crate) fn worker_update(session: &str) -> AgentEvent {
    event(json!({
        "type": "worker_update", "session_id": session, "worker_id": "w", "worker_name": "w",
        "worker_task": "t", "worker_mode": "delegated_stage", "event": "WorkerSpawned",
        "status": "running", "metadata": {}, "audit": null,
    }))
}
