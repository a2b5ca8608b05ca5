//! A session in a few numbers.

use serde::Serialize;

use super::stored::{Overview, Stored};
use super::tally::Tally;
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
    /// The facts about a session.
    pub(in crate::commands) fn of(session: &Stored) -> Self {
        let tally = &session.tally;
        Self {
            id: session.id.clone(),
            messages: session.state.recorded.len() as u64,
            started_at_ms: session.first_ms,
            active_at_ms: session.last_ms,
            last_record: session.last_record,
            status: status_of(tally, session.last_record, session.is_damaged),
            ..Self::counted(tally)
        }
    }

    /// The facts about a session of which only the numbers are known, with its messages.
    pub(in crate::commands) fn of_overview(session: &Overview, messages: u64) -> Self {
        let tally = &session.tally;
        Self {
            id: session.id.clone(),
            messages,
            started_at_ms: session.first_ms,
            active_at_ms: session.last_ms,
            last_record: session.last_record,
            status: status_of(tally, session.last_record, session.is_damaged),
            ..Self::counted(tally)
        }
    }

    fn counted(tally: &Tally) -> Self {
        Self {
            turns: tally.turns,
            tool_calls: tally.tool_calls,
            input_tokens: tally.input_tokens,
            output_tokens: tally.output_tokens,
            cost_usd: tally.cost_usd,
            compactions: tally.compactions,
            ..Self::default()
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

fn status_of(tally: &Tally, last_record: Option<u64>, is_damaged: bool) -> String {
    let status = match &*tally.status {
        _ if is_damaged => "damaged",
        "" if last_record.is_none() => "unknown",
        "" if tally.has_run => "unfinished",
        "" => "open",
        status => status,
    };
    status.to_owned()
}
