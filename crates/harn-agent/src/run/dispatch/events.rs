//! The events of a call.

use harn_events::{AgentEvent, ToolCallErrorCategory, ToolCallStatus, ToolExecutor};
use serde_json::Value;

use super::super::Run;
use super::super::turn::Call;
use crate::session::About;

/// How a call ended, for its last event.
pub(super) struct Ending {
    pub(super) raw_output: Option<Value>,
    pub(super) error: Option<String>,
    pub(super) category: Option<ToolCallErrorCategory>,
    pub(super) duration_ms: Option<u64>,
    pub(super) execution_duration_ms: Option<u64>,
    pub(super) executor: Option<ToolExecutor>,
}

impl Run<'_> {
    /// A call exists.
    pub(super) async fn announce(&self, call: &Call) {
        let kind = self.annotations_of(&call.name).map(|known| known.kind);
        self.emit(AgentEvent::ToolCall {
            session_id: self.id(),
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            kind,
            status: ToolCallStatus::Pending,
            raw_input: call.arguments.clone(),
            parsing: None,
            audit: self.audit(),
        })
        .await;
    }

    /// A call runs.
    pub(super) async fn tell_running(&self, call: &Call, executor: ToolExecutor) {
        let event = self.update(
            call,
            ToolCallStatus::InProgress,
            Ending {
                raw_output: None,
                error: None,
                category: None,
                duration_ms: None,
                execution_duration_ms: None,
                executor: Some(executor),
            },
        );
        self.emit(event).await;
    }

    /// A call has ended.
    pub(super) async fn tell_ending(&self, call: &Call, ending: Ending) {
        let status = match ending.error {
            Some(_) => ToolCallStatus::Failed,
            None => ToolCallStatus::Completed,
        };
        let event = self.update(call, status, ending);
        self.emit(event).await;
    }

    fn update(&self, call: &Call, status: ToolCallStatus, ending: Ending) -> AgentEvent {
        // Who reads a journal has seen the arguments arrive in part at most.
        let is_news = status == ToolCallStatus::InProgress && self.streamed.contains(&call.id);
        AgentEvent::ToolCallUpdate {
            session_id: self.id(),
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            status,
            raw_output: ending.raw_output,
            error: ending.error,
            duration_ms: ending.duration_ms,
            execution_duration_ms: ending.execution_duration_ms,
            error_category: ending.category,
            executor: ending.executor,
            parsing: None,
            raw_input: is_news.then(|| call.arguments.clone()),
            raw_input_partial: None,
            audit: self.audit(),
        }
    }

    /// Notes in the transcript what came of a call.
    pub(super) fn note_execution(&self, text: &str, about: About) {
        self.note_about("tool_execution", "tool", "internal", text, Some(about));
    }

    /// Notes in the transcript that a call is about to run.
    pub(super) fn note_intent(&self, call: &Call) {
        let about = About::Intent {
            arguments: call.arguments.clone(),
            tool_use_id: call.model_id.clone(),
        };
        self.note_about(
            "tool_intent",
            "assistant",
            "internal",
            &call.name,
            Some(about),
        );
    }
}
