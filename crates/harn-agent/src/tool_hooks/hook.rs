//! What a hook is.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use crate::callback::BoxFuture;

/// Something that sees an agent work. Rust embedders implement what they care about; what they
/// leave out changes nothing.
pub trait Hook: Send + Sync {
    /// Sees a tool call before it runs.
    fn pre_tool<'a>(&'a self, _call: ToolUse<'a>) -> BoxFuture<'a, Result<PreTool, Thrown>> {
        Box::pin(std::future::ready(Ok(PreTool::Keep)))
    }

    /// Sees the text of a tool call after it ran.
    fn post_tool<'a>(
        &'a self,
        _call: ToolUse<'a>,
        _text: &'a str,
    ) -> BoxFuture<'a, Result<PostTool, Thrown>> {
        Box::pin(std::future::ready(Ok(PostTool::Keep)))
    }

    /// Sees that a turn begins.
    fn pre_turn<'a>(&'a self, _payload: &'a Value) -> BoxFuture<'a, Result<(), Thrown>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Sees that a turn has ended.
    fn post_turn<'a>(&'a self, _payload: &'a Value) -> BoxFuture<'a, Result<(), Thrown>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Sees what becomes of a worker.
    fn worker<'a>(
        &'a self,
        _event: HookEvent,
        _payload: &'a Value,
    ) -> BoxFuture<'a, Result<(), Thrown>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A tool call that hooks see.
#[derive(Clone, Copy, Debug)]
pub struct ToolUse<'a> {
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub arguments: &'a Value,
}

/// What a hook wants before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum PreTool {
    /// Nothing.
    Keep,
    /// The call must not run, for this reason.
    Deny(String),
    /// The call runs with these arguments; an object.
    Replace(Value),
}

/// What a hook wants after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostTool {
    /// Nothing.
    Keep,
    /// The result is this text.
    Replace(String),
}

/// What a hook of a manifest can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// A tool is about to be called.
    PreToolUse,
    /// A tool was called.
    PostToolUse,
    /// A turn begins.
    PreAgentTurn,
    /// A turn has ended.
    PostAgentTurn,
    /// A worker was started.
    WorkerSpawned,
    /// A worker got further.
    WorkerProgressed,
    /// A worker waits for input.
    WorkerWaitingForInput,
    /// A worker is done.
    WorkerCompleted,
    /// A worker failed.
    WorkerFailed,
    /// A worker was cancelled.
    WorkerCancelled,
}

impl HookEvent {
    /// Every event.
    pub const ALL: [Self; 10] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PreAgentTurn,
        Self::PostAgentTurn,
        Self::WorkerSpawned,
        Self::WorkerProgressed,
        Self::WorkerWaitingForInput,
        Self::WorkerCompleted,
        Self::WorkerFailed,
        Self::WorkerCancelled,
    ];

    /// Its name in manifests and payloads.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PreAgentTurn => "PreAgentTurn",
            Self::PostAgentTurn => "PostAgentTurn",
            Self::WorkerSpawned => "WorkerSpawned",
            Self::WorkerProgressed => "WorkerProgressed",
            Self::WorkerWaitingForInput => "WorkerWaitingForInput",
            Self::WorkerCompleted => "WorkerCompleted",
            Self::WorkerFailed => "WorkerFailed",
            Self::WorkerCancelled => "WorkerCancelled",
        }
    }

    /// The event with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}

impl ToolUse<'_> {
    /// What functions of programs are told before the call.
    pub fn payload_before(&self) -> Value {
        json!({
            "event": HookEvent::PreToolUse.as_str(),
            "tool": {"name": self.name, "args": self.arguments},
        })
    }

    /// What functions of programs are told after the call.
    pub fn payload_after(&self, text: &str) -> Value {
        json!({
            "event": HookEvent::PostToolUse.as_str(),
            "tool": {"name": self.name, "args": self.arguments},
            "result": {"text": text},
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_by_name() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::named(event.as_str()), Some(event));
        }
        assert_eq!(HookEvent::named("preToolUse"), None);
    }

    #[test]
    fn payloads_tell_about_the_call() {
        let arguments = json!({"a": 1});
        let call = ToolUse {
            name: "run",
            arguments: &arguments,
        };
        let before = json!({"event": "PreToolUse", "tool": {"name": "run", "args": {"a": 1}}});
        assert_eq!(call.payload_before(), before);
        let after = json!({
            "event": "PostToolUse", "tool": {"name": "run", "args": {"a": 1}},
            "result": {"text": "done"},
        });
        assert_eq!(call.payload_after("done"), after);
    }
}
