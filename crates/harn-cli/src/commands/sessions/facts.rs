//! A session in a few numbers.

use harn_vm::agent::session::{Change, SessionState};
use serde::Serialize;

use super::stored::Stored;
use crate::amounts::{dollars, tokens};
use crate::counting::count;

/// A session in a few numbers. The names are a promise.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(in crate::commands) struct Facts {
    pub(in crate::commands) id: String,
    /// How its last loop ended; `unfinished` if it has not, `open` if there was none, `unknown`
    /// without a journal, and `damaged` where some of its records cannot be read.
    pub(in crate::commands) status: String,
    /// Turns of all its loops.
    pub(in crate::commands) turns: u64,
    /// Messages that were ever said.
    pub(in crate::commands) messages: u64,
    pub(in crate::commands) tool_calls: u64,
    pub(in crate::commands) input_tokens: u64,
    pub(in crate::commands) output_tokens: u64,
    pub(in crate::commands) cost_usd: f64,
    pub(in crate::commands) compactions: u64,
    pub(in crate::commands) started_at_ms: i64,
    pub(in crate::commands) active_at_ms: i64,
    /// The index of the last record of its journal.
    pub(in crate::commands) last_record: Option<u64>,
}

impl Facts {
    /// The facts about a session and its state.
    pub(in crate::commands) fn of(session: &Stored, state: &SessionState) -> Self {
        let mut facts = Self {
            id: session.id.clone(),
            messages: state.recorded.len() as u64,
            started_at_ms: session.first_ms,
            active_at_ms: session.last_ms,
            last_record: session.journal.last().map(|(_, record)| record.index),
            ..Self::default()
        };
        let mut has_run = false;
        for change in session.changes() {
            has_run |= matches!(change, Change::RunStarted { .. });
            facts.count(change);
        }
        facts.status = match &*state.run.status {
            _ if session.is_damaged => "damaged".to_owned(),
            "" if session.journal.is_empty() => "unknown".to_owned(),
            "" if has_run => "unfinished".to_owned(),
            "" => "open".to_owned(),
            status => status.to_owned(),
        };
        facts
    }

    fn count(&mut self, change: &Change) {
        match change {
            Change::IterationStarted { .. } => self.turns += 1,
            Change::CallStarted { .. } => self.tool_calls += 1,
            Change::Compacted { .. } => self.compactions += 1,
            Change::Answered {
                input_tokens,
                output_tokens,
                cost_usd,
                ..
            } => {
                self.input_tokens += input_tokens;
                self.output_tokens += output_tokens;
                self.cost_usd += cost_usd;
            }
            _ => {}
        }
    }

    /// What it took: `2 turns, 1 tool call, 120 tokens in, 30 out, $0.0010`.
    pub(in crate::commands) fn in_words(&self) -> String {
        let mut parts = vec![
            count(self.turns, "turn"),
            count(self.messages, "message"),
            count(self.tool_calls, "tool call"),
            format!("{} tokens in", tokens(self.input_tokens)),
            format!("{} out", tokens(self.output_tokens)),
        ];
        if self.cost_usd > 0.0 {
            parts.push(dollars(self.cost_usd));
        }
        parts.join(", ")
    }
}
