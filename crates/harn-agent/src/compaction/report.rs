//! How a compaction is told to those who watch.

use harn_events::AgentEvent;
use harn_llm::transcript::{NewId, runtime_event};
use serde_json::{Value, json};

use super::engine::Compacted;

/// Who compacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A program called a builtin.
    Manual,
    /// A loop, before it asks its model.
    Preflight,
    /// A loop, after a turn.
    Auto,
    /// The host asked for it.
    Host,
    /// A worker that carries its transcript on.
    Worker,
    /// A stage of a workflow.
    Workflow,
}

impl Mode {
    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Preflight => "preflight",
            Self::Auto => "auto",
            Self::Host => "host",
            Self::Worker => "worker",
            Self::Workflow => "workflow",
        }
    }
}

impl Compacted {
    /// The event that a transcript keeps.
    pub fn transcript_event(&self, mode: Mode, new_id: &mut NewId<'_>) -> Value {
        let text = match mode {
            Mode::Preflight => "Transcript compacted before agent LLM call".to_owned(),
            Mode::Manual => format!("Transcript compacted via {}", self.strategy),
            _ => "Transcript compacted during agent loop".to_owned(),
        };
        self.event_saying(&text, self.metadata(mode), new_id)
    }

    pub(super) fn event_saying(
        &self,
        text: &str,
        metadata: Value,
        new_id: &mut NewId<'_>,
    ) -> Value {
        runtime_event(
            "compaction",
            "system",
            "internal",
            text,
            Some(metadata),
            new_id,
        )
    }

    /// The numbers of the compaction.
    pub fn metadata(&self, mode: Mode) -> Value {
        json!({
            "mode": mode.name(),
            "strategy": self.strategy,
            "engine_strategy": self.engine_strategy,
            "archived_messages": self.reported_archived,
            "estimated_tokens_before": self.tokens_before,
            "estimated_tokens_after": self.tokens_after,
            "keep_first": self.keep_first,
            "keep_last": self.keep_last,
        })
    }

    /// The live event. `reason` says what made it necessary: `manual`, `threshold`, …
    pub fn agent_event(
        &self,
        session_id: &str,
        mode: Mode,
        reason: &str,
        snapshot_asset_id: Option<String>,
    ) -> AgentEvent {
        let whole = |tokens: u64| usize::try_from(tokens).unwrap_or(usize::MAX);
        AgentEvent::TranscriptCompacted {
            session_id: session_id.to_owned(),
            mode: mode.name().to_owned(),
            reason: reason.to_owned(),
            strategy: self.strategy.clone(),
            archived_messages: self.reported_archived,
            estimated_tokens_before: whole(self.tokens_before),
            estimated_tokens_after: whole(self.tokens_after),
            snapshot_asset_id,
            instruction_mode: None,
            instruction_source: None,
            compaction_policy: None,
        }
    }
}
