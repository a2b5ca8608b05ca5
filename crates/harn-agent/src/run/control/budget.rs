//! How long a loop may go on, where that is not fixed from the beginning.

use std::sync::Arc;
use std::time::Duration;

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, kind, truthy};
use serde_json::{Map, Value, json};

use super::super::post_turn::close_without_dispatch;
use super::super::turn::{Flow, Turn};
use super::super::{Run, skip_reason};
use super::Facts;
use super::completion::Ruling;
use super::options::Given;
use crate::callback::Callback;
use crate::loop_result::distinct;
use crate::session::ControlState;

/// Failures that the next try may not have.
const RETRYABLE: &[&str] = &[
    "rate_limit",
    "overloaded",
    "server_error",
    "transient_network",
    "timeout",
];

/// How long a loop may go on.
pub(super) struct Budget {
    /// How many iterations there may be at first.
    pub(super) first_limit: usize,
    max: usize,
    is_adaptive: bool,
    extend_by: usize,
    progress_window: u64,
    shows_decisions: bool,
    /// What it is called, and how long that is.
    time: Option<(&'static str, u64)>,
    total_cost_usd: Option<f64>,
    breaker: Option<Breaker>,
    control: Option<Arc<dyn Callback>>,
    /// Whether the result tells about it.
    is_told: bool,
}

/// Ends a loop whose model cannot be reached.
struct Breaker {
    max: u64,
    kinds: Vec<String>,
    pause_ms: u64,
}

impl Budget {
    pub(super) fn read(given: Given<'_>, max_iterations: usize) -> Result<Self, Thrown> {
        let config = given.config("iteration_budget")?;
        let empty = Map::new();
        let options = config.as_ref().map_or(&empty, |config| &config.options);
        let number = |key: &str| options.get(key).and_then(Value::as_u64);
        let count = |key: &str| number(key).and_then(|count| usize::try_from(count).ok());
        let is_adaptive = options.get("mode") == Some(&json!("adaptive"));
        let has_cap = given
            .0
            .get("max_iterations")
            .is_some_and(|cap| !cap.is_null());
        let max = match (is_adaptive, has_cap) {
            (false, _) => max_iterations,
            (true, true) => count("max").unwrap_or(16).min(max_iterations),
            (true, false) => count("max").unwrap_or(16),
        };
        let first = match is_adaptive {
            true => count("initial").unwrap_or((max / 4).max(1)),
            false => count("initial").unwrap_or(max),
        };
        let extend_by = count("extend_by").unwrap_or(2).max(1);
        let deadline = given.positive("deadline_ms")?.map(|ms| ("deadline", ms));
        let wall_clock = number("wall_clock_ms").map(|ms| ("wall_clock", ms));
        let control = given.closure("loop_control")?;
        Ok(Self {
            first_limit: first.min(max),
            max,
            is_adaptive,
            extend_by,
            progress_window: number("progress_window")
                .unwrap_or_else(|| u64::try_from(extend_by).unwrap_or(u64::MAX)),
            shows_decisions: options.get("expose_decisions").is_none_or(truthy),
            // The one that is over first.
            time: [deadline, wall_clock]
                .into_iter()
                .flatten()
                .min_by_key(|(_, ms)| *ms),
            total_cost_usd: options.get("total_cost_usd").and_then(Value::as_f64),
            breaker: options.get("consecutive_failures").and_then(Breaker::read),
            is_told: control.is_some() || is_adaptive,
            control,
        })
    }

    /// What the result tells about it.
    pub(super) fn told(&self, state: &ControlState, limit: usize) -> Map<String, Value> {
        let mut told = Map::new();
        if self.is_told {
            let decisions = match self.shows_decisions {
                true => state.decisions.clone(),
                false => Vec::new(),
            };
            let budget = json!({
                "extensions_used": state.extensions,
                "final_limit": limit,
                "decisions": decisions,
            });
            told.insert("adaptive_budget".to_owned(), budget);
        }
        told
    }
}

impl Breaker {
    fn read(value: &Value) -> Option<Self> {
        let max = value["max"].as_u64().filter(|max| *max > 0)?;
        let kinds = value["kinds"].as_array();
        let kinds = kinds.map(|kinds| kinds.iter().map(display).collect());
        let usual = || RETRYABLE.iter().map(|kind| (*kind).to_owned()).collect();
        Some(Self {
            max,
            kinds: kinds.unwrap_or_else(usual),
            pause_ms: value["paused_for_ms"].as_u64().unwrap_or(0),
        })
    }
}

/// What is decided about the limit.
enum Decision {
    Nothing,
    Extend { target: usize, reason: String },
    Stop { status: String, reason: String },
}

/// Decides whether the loop may go on.
pub(super) async fn decide(run: &Run<'_>, facts: &Facts, ruling: &Ruling) -> Result<Flow, Thrown> {
    let budget = &run.controls.budget;
    if budget.control.is_some() || budget.is_adaptive {
        let progress = note_progress(run, facts);
        let decision = match &budget.control {
            Some(control) => {
                let state = state(run, facts, ruling, progress);
                let answer = control.call(vec![state]).await?;
                read(run, &answer)?
            }
            None => None,
        };
        let decision = decision.unwrap_or_else(|| by_itself(run, facts, ruling, progress));
        if let Some(status) = follow(run, facts, decision).await {
            return Ok(Flow::Break(status));
        }
    }
    Ok(match run.is_used_up().await {
        Some(status) => Flow::Break(status),
        None => Flow::Continue,
    })
}

/// How many turns ago the loop came further.
fn note_progress(run: &Run<'_>, facts: &Facts) -> u64 {
    let has_changed = facts.tool_calls > 0 || facts.has_visible_text;
    run.set_controls(|state| {
        state.idle_turns = match has_changed {
            true => 0,
            false => state.idle_turns + 1,
        };
    });
    run.control_state().idle_turns
}

/// Reads what a function decided; `None` if it leaves that to the budget.
fn read(run: &Run<'_>, answer: &Value) -> Result<Option<Decision>, Thrown> {
    let answer = match answer {
        Value::Null => return Ok(None),
        Value::Object(answer) => answer,
        other => return fail(format!("must return nil or a dict; got {}", kind(other))),
    };
    let number = |key: &str| match answer.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) => Ok(Some(usize::try_from(number).unwrap_or(0))),
            None => fail(format!("`{key}` must be an integer; got {}", kind(value))),
        },
    };
    let (by, until) = (number("by")?, number("until")?);
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    let action = answer.get("action").filter(|action| !action.is_null());
    let action = action.map_or_else(|| "none".to_owned(), display);
    Ok(Some(match &*action {
        "none" => Decision::Nothing,
        "extend" => {
            let by = by.unwrap_or(run.controls.budget.extend_by);
            Decision::Extend {
                target: until.unwrap_or_else(|| run.limit().saturating_add(by)),
                reason: text("reason").unwrap_or_else(|| "loop_control".to_owned()),
            }
        }
        "stop" => Decision::Stop {
            status: text("status").unwrap_or_else(|| "stopped".to_owned()),
            reason: text("reason").unwrap_or_else(|| "loop_control".to_owned()),
        },
        other => {
            return fail(format!(
                "action must be \"none\", \"extend\", or \"stop\"; got {other}"
            ));
        }
    }))
}

fn fail<T>(text: String) -> Result<T, Thrown> {
    Err(Thrown::Plain(format!("agent_loop: loop_control {text}")))
}

/// What an adaptive budget decides when it is used up.
fn by_itself(run: &Run<'_>, facts: &Facts, ruling: &Ruling, idle_turns: u64) -> Decision {
    let budget = &run.controls.budget;
    if !budget.is_adaptive || facts.iteration + 1 < run.limit() {
        return Decision::Nothing;
    }
    let lacks_tools = !missing_tools(run).1;
    let reason = match ruling.is_vetoed {
        true => "completion gate vetoed",
        false if lacks_tools => "required tools missing",
        false if idle_turns < budget.progress_window => "progress within window",
        false => return Decision::Nothing,
    };
    Decision::Extend {
        target: run.limit().saturating_add(budget.extend_by),
        reason: reason.to_owned(),
    }
}

/// Does what was decided; gives the status if the loop ends.
async fn follow(run: &Run<'_>, facts: &Facts, decision: Decision) -> Option<String> {
    let old_limit = run.limit();
    let (action, new_limit, reason, status) = match decision {
        Decision::Nothing => return None,
        Decision::Extend { target, reason } => {
            let target = target.min(run.controls.budget.max);
            if target <= old_limit {
                return None;
            }
            ("extend", target, reason, String::new())
        }
        Decision::Stop { status, reason } => ("stop", old_limit, reason, status),
    };
    let noted = json!({
        "iteration": facts.iteration + 1,
        "action": action,
        "old_limit": old_limit,
        "new_limit": new_limit,
        "reason": reason,
        "status": status,
    });
    run.set_controls(|state| {
        state.decisions.push(noted);
        match action {
            "extend" => {
                state.limit = Some(new_limit);
                state.extensions += 1;
            }
            _ => state.stop_reason = Some(reason.clone()),
        }
    });
    run.emit(AgentEvent::LoopControlDecision {
        session_id: run.id(),
        iteration: facts.iteration + 1,
        action: action.to_owned(),
        old_limit,
        new_limit,
        reason,
        status: status.clone(),
    })
    .await;
    (action == "stop").then_some(status)
}

/// The required tools that have not succeeded, and whether what has succeeded is enough.
fn missing_tools(run: &Run<'_>) -> (Vec<String>, bool) {
    let required = &run.options.require_successful_tools;
    run.session.read(|state| {
        let successful = &state.run.successful;
        match required.are_satisfied(successful) {
            true => (Vec::new(), true),
            false => (required.missing(successful), false),
        }
    })
}

/// What a function of the program is told.
fn state(run: &Run<'_>, facts: &Facts, ruling: &Ruling, idle_turns: u64) -> Value {
    let budget = &run.controls.budget;
    let (missing, is_satisfied) = missing_tools(run);
    let controls = run.control_state();
    let limit = run.limit();
    let elapsed_ms = run.runtime.now_ms() - run.started_ms;
    run.session.read(|state| {
        json!({
            "iteration": facts.iteration,
            "budget": {
                "current_limit": limit,
                "max": budget.max,
                "remaining": limit.saturating_sub(facts.iteration + 1),
                "extension_count": controls.extensions,
                "wall_clock_ms": elapsed_ms,
                "wall_clock_limit_ms": budget.time.map(|(_, ms)| ms),
                "cost_usd": state.run.cost_usd,
                "total_cost_limit_usd": budget.total_cost_usd,
                "consecutive_failures": controls.failures,
                "consecutive_failure_limit": budget.breaker.as_ref().map(|breaker| breaker.max),
            },
            "turn": {
                "tool_call_count": facts.tool_calls,
                "successful_tool_names": facts.successful,
                "rejected_tool_names": facts.rejected,
                "text_chars": facts.text_chars,
                "native_fallback_used": facts.fell_back,
            },
            "session": {
                "successful_tool_names": state.run.successful_tools,
                "rejected_tool_names": distinct(&state.run.rejected),
                "required_tools_satisfied": is_satisfied,
                "required_tools_missing": missing,
            },
            "completion": {
                "proposed": ruling.is_proposed,
                "vetoed": ruling.is_vetoed,
                "verdict": ruling.verdict,
                "feedback": ruling.feedback,
            },
            "progress": {
                "changed": idle_turns == 0,
                "summary": summary(facts, ruling),
                "no_net_advance": false,
                "no_information_gain": false,
                "turns_since_progressing": idle_turns,
            },
        })
    })
}

fn summary(facts: &Facts, ruling: &Ruling) -> String {
    match facts.tool_calls {
        _ if ruling.is_vetoed => "completion gate vetoed".to_owned(),
        0 if facts.has_visible_text => "produced visible text".to_owned(),
        0 => "no progress signal".to_owned(),
        count => format!("executed {count} tool call(s)"),
    }
}

/// What becomes of an iteration whose model could not be asked.
pub(in crate::run) enum Failed {
    /// It is tried again with the next one.
    GoOn,
    /// The loop ends with that status.
    End(String),
    /// Whoever runs the loop hears of it.
    Throw,
}

impl Run<'_> {
    /// Whether the time or the money of the loop is used up.
    async fn is_used_up(&self) -> Option<String> {
        let budget = &self.controls.budget;
        let elapsed = u64::try_from(self.runtime.now_ms() - self.started_ms).unwrap_or(0);
        if let Some((kind, _)) = budget.time.filter(|(_, ms)| elapsed >= *ms) {
            self.stop_because(kind);
            return Some(self.exhausted_after(kind, None, Some(elapsed)).await);
        }
        if self.has_spent_its_money() {
            let cost = self.session.read(|state| state.run.cost_usd);
            self.stop_because("total_cost");
            return Some(self.exhausted_after("total_cost", Some(cost), None).await);
        }
        None
    }

    /// Whether the loop has cost as much as it may.
    pub(in crate::run) fn has_spent_its_money(&self) -> bool {
        let cost = self.session.read(|state| state.run.cost_usd);
        let max = self.controls.budget.total_cost_usd;
        max.is_some_and(|max| cost >= max)
    }

    pub(super) fn set_failures(&self, failures: u64) {
        if self.control_state().failures != failures {
            self.set_controls(|state| state.failures = failures);
        }
    }

    /// Decides what a failed call of the model means. The breaker counts those that the next
    /// try may not have.
    pub(in crate::run) async fn after_failure(&self, turn: &Turn, thrown: &Thrown) -> Failed {
        let reason = skip_reason(thrown);
        let Some(breaker) = &self.controls.budget.breaker else {
            return Failed::Throw;
        };
        if !breaker.kinds.contains(&reason) {
            return Failed::Throw;
        }
        let failures = self.control_state().failures + 1;
        self.set_failures(failures);
        close_without_dispatch(self, turn, &reason).await;
        if failures < breaker.max {
            return Failed::GoOn;
        }
        self.emit(AgentEvent::BudgetCircuitBreaker {
            session_id: self.id(),
            kind: "consecutive_failures".to_owned(),
            consecutive_count: usize::try_from(failures).unwrap_or(usize::MAX),
            paused_for_ms: breaker.pause_ms,
        })
        .await;
        self.runtime
            .sleep(Duration::from_millis(breaker.pause_ms))
            .await;
        self.stop_because("circuit_breaker");
        Failed::End(
            self.exhausted_after("consecutive_failures", None, None)
                .await,
        )
    }

    /// Whether a failure may be survived.
    pub(in crate::run) fn has_breaker(&self) -> bool {
        self.controls.budget.breaker.is_some()
    }
}
