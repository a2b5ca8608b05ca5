//! The runs and iterations of a log.
//!
//! Old loops counted iterations from 0 and recorded no end for those without a
//! tool call. Numbers are kept as they were recorded; this says how to read them,
//! and where an iteration is over that never said so.

use crate::event::AgentEvent;
use crate::record::StoredRecord;

/// How a run counts iterations. Old loops counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationBase {
    /// From 0.
    Zero,
    /// From 1.
    One,
    /// From somewhere else; the log may begin in the middle of a run.
    Other(usize),
}

/// Where a run begins, and how it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStart {
    /// The position in `records` of its first iteration boundary.
    pub position: usize,
    /// What it calls its first iteration.
    pub base: IterationBase,
}

/// An iteration whose end was not recorded: old loops wrote none without a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InferredEnd {
    /// The iteration.
    pub iteration: usize,
    /// The position in `records` at which it is over.
    pub position: usize,
}

/// What a session's records say about its iterations.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    pub(super) runs: Vec<RunStart>,
    pub(super) inferred_ends: Vec<InferredEnd>,
    open: Option<usize>,
    /// The number of the latest start of the current run; `None` between runs.
    latest: Option<usize>,
}

impl Iterations {
    pub(super) fn of(records: &[StoredRecord]) -> Self {
        let mut iterations = Self::default();
        for (position, record) in records.iter().enumerate() {
            if let Some(event) = record.event.event() {
                iterations.apply(position, event);
            }
        }
        iterations.close(records.len());
        iterations
    }

    fn apply(&mut self, position: usize, event: &AgentEvent) {
        match event {
            AgentEvent::IterationStart { iteration, .. } => {
                self.close(position);
                // Old loops did not say where a run ends; a number that does not
                // rise is the beginning of another.
                if self.latest.is_none_or(|latest| *iteration <= latest) {
                    self.begin_run(position, *iteration);
                }
                self.open = Some(*iteration);
                self.latest = Some(*iteration);
            }
            AgentEvent::IterationEnd { iteration, .. } => {
                if self.open == Some(*iteration) {
                    self.open = None;
                }
                self.close(position);
                if self.latest.is_none() {
                    self.begin_run(position, *iteration);
                    self.latest = Some(*iteration);
                }
            }
            AgentEvent::LoopCheckpoint { kind, .. } if kind == "loop_exit" => self.latest = None,
            AgentEvent::BudgetExhausted { .. }
            | AgentEvent::LoopStuck { .. }
            | AgentEvent::DaemonWatchdogTripped { .. } => {
                self.close(position);
                self.latest = None;
            }
            _ => {}
        }
    }

    fn begin_run(&mut self, position: usize, first: usize) {
        let base = match first {
            0 => IterationBase::Zero,
            1 => IterationBase::One,
            other => IterationBase::Other(other),
        };
        self.runs.push(RunStart { position, base });
    }

    /// The open iteration, if there is one, is over here.
    fn close(&mut self, position: usize) {
        if let Some(iteration) = self.open.take() {
            self.inferred_ends.push(InferredEnd {
                iteration,
                position,
            });
        }
    }
}

/// A stored run is complete if what follows its last iteration start contains an
/// orderly ending.
pub(super) fn ends_complete(records: &[StoredRecord]) -> bool {
    for record in records.iter().rev() {
        match record.event.event() {
            Some(
                AgentEvent::IterationEnd { .. }
                | AgentEvent::Handoff { .. }
                | AgentEvent::BudgetExhausted { .. }
                | AgentEvent::LoopStuck { .. },
            ) => return true,
            Some(AgentEvent::IterationStart { .. }) => return false,
            _ => {}
        }
    }
    false
}
