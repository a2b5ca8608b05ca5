//! What a journal comes to, counted record by record.

use harn_vm::agent::session::Change;
use serde::Deserialize;

/// What a journal comes to so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::commands) struct Tally {
    /// How the last loop ended; empty if it has not.
    pub(super) status: String,
    /// Whether there was a loop.
    pub(super) has_run: bool,
    pub(in crate::commands) turns: u64,
    pub(super) tool_calls: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(in crate::commands) cost_usd: f64,
    pub(super) compactions: u64,
    /// Tokens of the last answer and of what it was given to.
    pub(in crate::commands) context_tokens: u64,
}

/// What a record of a journal adds.
#[derive(Debug, PartialEq)]
pub(super) enum Counted {
    /// The session begins with nothing in it.
    Opened,
    RunStarted,
    /// A loop stands where it was, and may have ended there.
    RunSet {
        status: String,
    },
    Turn,
    ToolCall,
    Answer(AnswerCost),
    Compaction,
}

/// What an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct AnswerCost {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: f64,
}

#[derive(Deserialize)]
struct Ended {
    status: String,
}

#[derive(Deserialize)]
struct Restored {
    run: Ended,
}

impl Counted {
    /// What a change adds.
    fn of(change: &Change) -> Option<Self> {
        Some(match change {
            Change::Opened => Self::Opened,
            Change::RunStarted { .. } => Self::RunStarted,
            Change::RunRestored { run } => Self::RunSet {
                status: run.status.clone(),
            },
            Change::RunEnded { status } => Self::RunSet {
                status: status.clone(),
            },
            Change::IterationStarted { .. } => Self::Turn,
            Change::CallStarted { .. } => Self::ToolCall,
            Change::Compacted { .. } => Self::Compaction,
            Change::Answered {
                input_tokens,
                output_tokens,
                cost_usd,
                ..
            } => Self::Answer(AnswerCost {
                input_tokens: *input_tokens,
                output_tokens: *output_tokens,
                cost_usd: *cost_usd,
            }),
            _ => return None,
        })
    }

    /// What a stored record adds. Its kind says what it is, so that few have to be decoded, and of
    /// these only the fields that count.
    pub(super) fn stored(kind: &str, payload: &[u8]) -> serde_json::Result<Option<Self>> {
        let run_set = |ended: Ended| Self::RunSet {
            status: ended.status,
        };
        Ok(Some(match kind {
            "opened" => Self::Opened,
            "run_started" => Self::RunStarted,
            "run_restored" => run_set(serde_json::from_slice::<Restored>(payload)?.run),
            "run_ended" => run_set(serde_json::from_slice(payload)?),
            "iteration_started" => Self::Turn,
            "call_started" => Self::ToolCall,
            "compacted" => Self::Compaction,
            "answered" => Self::Answer(serde_json::from_slice(payload)?),
            _ => return Ok(None),
        }))
    }

    /// Whether more than the kind of its record was needed.
    pub(super) fn was_decoded(&self) -> bool {
        match self {
            Self::RunSet { .. } | Self::Answer(_) => true,
            Self::Opened | Self::RunStarted | Self::Turn | Self::ToolCall | Self::Compaction => {
                false
            }
        }
    }
}

impl Tally {
    /// Counts a change.
    pub(super) fn note(&mut self, change: &Change) {
        if let Some(counted) = Counted::of(change) {
            self.add(counted);
        }
    }

    pub(super) fn add(&mut self, counted: Counted) {
        match counted {
            Counted::Opened => *self = Self::default(),
            Counted::RunStarted => {
                self.has_run = true;
                self.status.clear();
            }
            Counted::RunSet { status } => self.status = status,
            Counted::Turn => self.turns += 1,
            Counted::ToolCall => self.tool_calls += 1,
            Counted::Compaction => self.compactions += 1,
            Counted::Answer(cost) => {
                self.input_tokens += cost.input_tokens;
                self.output_tokens += cost.output_tokens;
                self.cost_usd += cost.cost_usd;
                self.context_tokens = cost.input_tokens + cost.output_tokens;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A stored record is counted without being decoded whole, and counts the same.
    #[test]
    fn a_stored_record_counts_as_its_change_does() {
        for change in [
            json!({"change": "opened"}),
            json!({"change": "run_started", "ledger": {}, "resumed_iterations": 0}),
            json!({"change": "run_restored", "run": {"status": "stuck"}}),
            json!({"change": "run_ended", "status": "done"}),
            json!({"change": "iteration_started", "iteration": 3}),
            json!({"change": "call_started", "id": "c", "name": "look", "arguments": {}}),
            json!({"change": "answered", "input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5}),
            json!({"change": "compacted", "keep_first": 0, "split": 1, "replaced": [0, 1],
                "message": {"role": "user", "content": "short"}}),
            json!({"change": "message_added", "message": {"role": "user", "content": "hi"}}),
            json!({"change": "resumed"}),
        ] {
            let kind = change["change"].as_str().unwrap().to_owned();
            let payload = change.to_string();
            let stored = Counted::stored(&kind, payload.as_bytes()).unwrap();
            let decoded: Change = serde_json::from_value(change).unwrap();
            assert_eq!(stored, Counted::of(&decoded), "{kind}");
        }
    }

    #[test]
    fn what_was_before_a_session_was_opened_does_not_count() {
        let mut tally = Tally::default();
        for counted in [Counted::RunStarted, Counted::Turn, Counted::ToolCall] {
            tally.add(counted);
        }
        assert_eq!((tally.has_run, tally.turns, tally.tool_calls), (true, 1, 1));
        tally.add(Counted::Opened);
        assert_eq!(tally, Tally::default());
    }
}
