//! Why a turn has ended, as the client is told.
//!
//! | outcome of the run | `stopReason` | `_meta.harn.outcome` |
//! |---|---|---|
//! | natural end | `end_turn` | `completed` |
//! | the provider stopped for length | `max_tokens` | `length` |
//! | iterations used up, loop stuck | `max_turn_requests` | `budget_exhausted`, `loop_stuck` |
//! | money or time used up | `max_turn_requests` | `cost_exhausted`, `time_exhausted` |
//! | the provider refused | `refusal` | `refused` |
//! | cancelled | `cancelled` | `cancelled` |
//! | waits for a person | `end_turn` | `suspended` |

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::agent::AgentEventSink;
use harn_vm::agent::events::AgentEvent;
use serde_json::{Value, json};

/// How a turn has ended, apart from failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Completed,
    Length,
    BudgetExhausted,
    LoopStuck,
    CostExhausted,
    TimeExhausted,
    Refused,
    Cancelled,
    Suspended,
}

impl Outcome {
    /// The two words for it: that of the protocol, and ours.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Completed => ("end_turn", "completed"),
            Self::Length => ("max_tokens", "length"),
            Self::BudgetExhausted => ("max_turn_requests", "budget_exhausted"),
            Self::LoopStuck => ("max_turn_requests", "loop_stuck"),
            Self::CostExhausted => ("max_turn_requests", "cost_exhausted"),
            Self::TimeExhausted => ("max_turn_requests", "time_exhausted"),
            Self::Refused => ("refusal", "refused"),
            Self::Cancelled => ("cancelled", "cancelled"),
            Self::Suspended => ("end_turn", "suspended"),
        }
    }

    /// The answer to the prompt.
    pub(super) fn answer(self) -> Value {
        let (stop_reason, outcome) = self.words();
        json!({"stopReason": stop_reason, "_meta": {"harn": {"outcome": outcome}}})
    }
}

/// What is seen of a turn while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Whether the agent has said something.
    pub(super) has_spoken: bool,
    /// Who was asked last.
    pub(super) provider: Option<String>,
    /// Why the last answer of a model ended, if not because all was said.
    stop: Option<String>,
    /// What was used up, if something was.
    exhausted: Option<String>,
    is_stuck: bool,
}

impl Seen {
    /// How a turn has ended that did not fail. `status` is how its loop says that it ended.
    pub(super) fn outcome(&self, status: Option<&str>) -> Outcome {
        let budget = match self.exhausted.as_deref() {
            Some("total_cost" | "cost") => Outcome::CostExhausted,
            Some("wall_clock" | "deadline") => Outcome::TimeExhausted,
            _ => Outcome::BudgetExhausted,
        };
        match (status, self.stop.as_deref()) {
            (Some("suspended"), _) => Outcome::Suspended,
            (Some("budget_exhausted"), _) => budget,
            (Some("stuck"), _) => Outcome::LoopStuck,
            _ if self.exhausted.is_some() => budget,
            _ if self.is_stuck => Outcome::LoopStuck,
            (_, Some("length")) => Outcome::Length,
            (_, Some("refusal" | "content_filter")) => Outcome::Refused,
            _ => Outcome::Completed,
        }
    }

    fn see(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::AgentMessageChunk { content, .. } => {
                self.has_spoken |= !content.trim().is_empty();
            }
            AgentEvent::IterationStart { provider, .. } if !provider.is_empty() => {
                self.provider = Some(provider.clone());
            }
            AgentEvent::IterationEnd { iteration_info, .. } => {
                let stop = iteration_info["stop_reason"].as_str();
                self.stop = stop.map(str::to_owned);
            }
            AgentEvent::BudgetExhausted { kind, .. } => {
                let kind = kind.as_deref().unwrap_or("max_iterations");
                self.exhausted = Some(kind.to_owned());
            }
            AgentEvent::LoopStuck { .. } => self.is_stuck = true,
            _ => {}
        }
    }
}

/// Watches a session while turns run.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

impl Watch {
    /// A turn begins.
    pub(super) fn begin(&self) {
        *self.seen() = Seen::default();
    }

    /// What was seen of it so far.
    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentEventSink for Watch {
    fn handle_event(&self, event: &AgentEvent) {
        self.seen().see(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: &str, seen: Seen, stop_reason: &str, outcome: &str) {
        let answer = seen.outcome(Some(status)).answer();
        assert_eq!(answer["stopReason"], stop_reason);
        assert_eq!(answer["_meta"]["harn"]["outcome"], outcome);
    }

    #[test]
    fn every_outcome_has_its_words() {
        let exhausted = |kind: &str| Seen {
            exhausted: Some(kind.to_owned()),
            ..Seen::default()
        };
        let stopped = |stop: &str| Seen {
            stop: Some(stop.to_owned()),
            ..Seen::default()
        };
        check("done", Seen::default(), "end_turn", "completed");
        check("done", stopped("length"), "max_tokens", "length");
        check("done", stopped("refusal"), "refusal", "refused");
        check("done", stopped("content_filter"), "refusal", "refused");
        check("suspended", Seen::default(), "end_turn", "suspended");
        check("stuck", Seen::default(), "max_turn_requests", "loop_stuck");
        let budget = "budget_exhausted";
        check(
            budget,
            exhausted("max_iterations"),
            "max_turn_requests",
            budget,
        );
        check(
            budget,
            exhausted("total_cost"),
            "max_turn_requests",
            "cost_exhausted",
        );
        check(
            budget,
            exhausted("wall_clock"),
            "max_turn_requests",
            "time_exhausted",
        );
        check(
            budget,
            exhausted("deadline"),
            "max_turn_requests",
            "time_exhausted",
        );
        let cancelled = Outcome::Cancelled.answer();
        assert_eq!(cancelled["stopReason"], "cancelled");
    }
}
