//! What watches over a loop besides its own rules: guards before the model is asked, checks of
//! what it said, judges of its end, and who decides how long it may go on.
//!
//! ```text
//! input ─► model ─► structure ─► dispatch ─► completion ─► budget ─► next iteration
//! ```
//!
//! All of them are off unless their option is present. What they have decided is part of the
//! run, and changes through the journal like everything else.

mod budget;
mod completion;
mod input;
mod judge;
mod options;
mod rhythm;
mod structure;

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::{Map, Value};

use super::Run;
use super::turn::{Flow, Turn};
use crate::callback::{Callback, Functions};
use crate::loop_result::distinct;
use crate::session::{CallOutcome, Change, ControlState};

pub(super) use budget::Failed;
use completion::Ruling;

/// The options of everything here.
pub(super) struct Controls {
    budget: budget::Budget,
    completion: completion::Judges,
    input: input::Gate,
    structure: Option<structure::Validator>,
    /// Whether a loop that was stopped by a ceiling has a last word.
    pub(super) wraps_up: bool,
    /// What the program has put around its tool calls.
    pub(super) tool_caller: Option<Arc<dyn Callback>>,
}

impl Controls {
    /// # Errors
    /// An option is not understood.
    pub(super) fn read(
        options: &Map<String, Value>,
        functions: &Functions,
        max_iterations: usize,
    ) -> Result<Self, Thrown> {
        let given = options::Given(options, functions);
        Ok(Self {
            budget: budget::Budget::read(given, max_iterations)?,
            completion: completion::Judges::read(given)?,
            input: input::Gate::read(given)?,
            structure: structure::Validator::read(given)?,
            wraps_up: given.is_on("final_wrapup")?,
            tool_caller: given.closure("tool_caller")?,
        })
    }

    /// What a program learns of it, by the key in the result.
    pub(super) fn told(&self, state: &ControlState, limit: usize) -> Map<String, Value> {
        let mut told = self.budget.told(state, limit);
        if self.completion.is_on() {
            let verdicts = Value::Array(state.verdicts.clone());
            told.insert("judge_decisions".to_owned(), verdicts);
        }
        if let Some(reason) = &state.stop_reason {
            told.insert("stop_reason".to_owned(), Value::from(reason.clone()));
        }
        told
    }
}

/// What is known of a turn after its calls were made.
pub(super) struct Facts {
    iteration: usize,
    tool_calls: usize,
    successful: Vec<String>,
    rejected: Vec<String>,
    text_chars: usize,
    has_visible_text: bool,
    fell_back: bool,
}

impl Facts {
    /// `refused_before` is how many calls of the loop had been refused before the turn.
    pub(super) fn of(run: &Run<'_>, turn: &Turn, refused_before: usize) -> Self {
        let results = turn.results.iter();
        let successful = results.filter(|result| result.outcome == CallOutcome::Ok);
        let successful: Vec<String> = successful.map(|result| result.name.clone()).collect();
        let rejected = run.session.read(|state| {
            let since = state.run.rejected.get(refused_before..);
            distinct(since.unwrap_or_default())
        });
        let wrote_calls_as_text = run.mode == harn_llm::grammar::contract::Mode::Native
            && turn.had_calls
            && turn.answer().reply.tool_calls.is_empty();
        Self {
            iteration: turn.iteration,
            tool_calls: turn.calls.len(),
            successful: distinct(&successful),
            rejected,
            text_chars: turn.prose_chars,
            has_visible_text: !turn.prose.trim().is_empty(),
            fell_back: wrote_calls_as_text,
        }
    }

    /// Of a turn that becomes no history: none of its calls is made.
    pub(super) fn of_nothing(turn: &Turn) -> Self {
        Self {
            iteration: turn.iteration,
            tool_calls: 0,
            successful: Vec::new(),
            rejected: Vec::new(),
            text_chars: turn.prose_chars,
            has_visible_text: !turn.prose.trim().is_empty(),
            fell_back: false,
        }
    }
}

impl Run<'_> {
    /// How many iterations there may be.
    pub(super) fn limit(&self) -> usize {
        let changed = self.session.read(|state| state.run.controls.limit);
        changed.unwrap_or(self.controls.budget.first_limit)
    }

    fn control_state(&self) -> ControlState {
        self.session.read(|state| state.run.controls.clone())
    }

    fn set_controls(&self, change: impl FnOnce(&mut ControlState)) {
        let mut controls = self.control_state();
        change(&mut controls);
        self.session.record(Change::ControlsSet {
            controls: Box::new(controls),
        });
    }

    fn stop_because(&self, reason: &str) {
        self.set_controls(|state| state.stop_reason = Some(reason.to_owned()));
    }
}

/// Looks at what the user wants, before the model does. Gives the status if the loop ends.
pub(super) async fn before_call(run: &Run<'_>, turn: &Turn) -> Result<Option<String>, Thrown> {
    input::check(run, turn).await
}

/// Looks at what the model said, before anything is done about it. Says whether it is asked
/// again.
pub(super) async fn after_answer(run: &Run<'_>, turn: &Turn) -> Result<bool, Thrown> {
    run.set_failures(0);
    structure::check(run, turn).await
}

/// Decides how the loop goes on after a turn.
pub(super) async fn after_turn(run: &Run<'_>, facts: &Facts, flow: Flow) -> Result<Flow, Thrown> {
    let (flow, asked) = match flow {
        Flow::Continue => match completion::ended_by_rhythm(run, facts).await? {
            Some(judge) => (Flow::Break("done".to_owned()), Some(judge)),
            None => (Flow::Continue, None),
        },
        ended => (ended, None),
    };
    let ruling = match &flow {
        Flow::Break(status) if status == "done" => completion::rule(run, facts, asked).await?,
        _ => Ruling::default(),
    };
    let flow = match &ruling.end {
        Some(status) => Flow::Break(status.clone()),
        None if ruling.is_vetoed => Flow::Continue,
        None => flow,
    };
    match flow {
        Flow::Continue => budget::decide(run, facts, &ruling).await,
        ended => Ok(ended),
    }
}
