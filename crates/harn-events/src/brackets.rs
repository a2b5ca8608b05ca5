//! What has begun and not yet ended.
//!
//! Most things that happen come in pairs: an iteration starts and ends, a call
//! is announced and has an outcome, a question is asked and resolved. A reader
//! can only trust the pairs if every opening is closed on every way out, so the
//! bus keeps this account for each session and closes what a failed or cancelled
//! run leaves behind. A replayer uses the same account to show an interrupted
//! run as interrupted.
//!
//! Questions to people outlive a run and are resolved by their own
//! [`HitlWait`](crate::HitlWait), or when the session closes.

use std::collections::{BTreeMap, VecDeque};

use serde_json::json;

use crate::event::AgentEvent;
use crate::{
    CompositionFailureCategory, CompositionRunEnvelope, MutationSessionRecord,
    ToolCallErrorCategory, ToolCallStatus,
};

/// Brackets of one kind a session may have open at once. A runaway producer loses
/// the account of an old one, never memory without bound.
const OPEN_MAX: usize = 4096;

/// The open brackets of one session.
#[derive(Clone, Debug, Default)]
pub struct OpenBrackets {
    iteration: Option<usize>,
    last_iteration: usize,
    calls: BTreeMap<String, OpenCall>,
    /// Orders the calls by when they were announced.
    calls_seen: u64,
    /// Calls that ended last, oldest first.
    ended_calls: VecDeque<String>,
    searches: BTreeMap<String, (String, String)>,
    questions: BTreeMap<String, String>,
    compositions: BTreeMap<String, Box<CompositionRunEnvelope>>,
    /// Whether the current run has passed its last seam.
    exited: bool,
    /// Whether somebody has cancelled the current run: what it leaves open ends as cancelled.
    is_cancelled: bool,
}

/// A tool call without an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// Tool as far as it is known.
    pub tool_name: String,
    /// A candidate seen in streaming text, not yet a call.
    pub is_candidate: bool,
    /// Whether a backend has taken it up.
    pub is_running: bool,
    /// The mutation session that it began in, which its end names too.
    pub audit: Option<Box<MutationSessionRecord>>,
    order: u64,
}

/// How a run leaves its brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<'a> {
    /// The model's stream broke: what it announced will never arrive.
    StreamFailed,
    /// The run is over, for this reason.
    RunEnded(&'a str),
}

/// What an event is to the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// News.
    New,
    /// A second announcement of a call that is open already.
    Duplicate,
    /// News of a call, or an answer to a question, that has ended already.
    Stale,
}

/// Ends that are remembered, to tell a late report from a call that never began.
const ENDED_MAX: usize = 256;

impl OpenBrackets {
    /// Takes note of an event.
    pub fn apply(&mut self, event: &AgentEvent) -> Admission {
        match event {
            AgentEvent::IterationStart { iteration, .. } => {
                self.iteration = Some(*iteration);
                self.last_iteration = *iteration;
            }
            AgentEvent::IterationEnd { .. } => self.iteration = None,
            AgentEvent::LoopCheckpoint { kind, .. } if kind == "loop_exit" => self.exited = true,
            AgentEvent::ToolCall {
                tool_call_id,
                tool_name,
                parsing,
                audit,
                ..
            } => {
                let call = OpenCall {
                    tool_name: tool_name.clone(),
                    is_candidate: *parsing == Some(true),
                    is_running: false,
                    audit: audit.clone().map(Box::new),
                    order: 0,
                };
                return self.announce(tool_call_id, call);
            }
            AgentEvent::ToolCallUpdate {
                tool_call_id,
                tool_name,
                status,
                parsing,
                ..
            } => {
                return self.update(tool_call_id, tool_name, *status, *parsing);
            }
            AgentEvent::ToolSearchQuery {
                tool_use_id,
                strategy,
                mode,
                ..
            } => {
                let query = (strategy.clone(), mode.clone());
                insert_bounded(&mut self.searches, tool_use_id, query);
            }
            AgentEvent::ToolSearchResult { tool_use_id, .. } => {
                self.searches.remove(tool_use_id);
            }
            AgentEvent::HitlRequested {
                request_id, kind, ..
            } => {
                insert_bounded(&mut self.questions, request_id, kind.clone());
            }
            AgentEvent::HitlResolved { request_id, .. } => {
                self.questions.remove(request_id);
            }
            AgentEvent::CompositionStart { run, .. } => {
                insert_bounded(&mut self.compositions, &run.run_id, Box::new(run.clone()));
            }
            AgentEvent::CompositionFinish { run, .. }
            | AgentEvent::CompositionError { run, .. } => {
                self.compositions.remove(&run.run_id);
            }
            _ => {}
        }
        Admission::New
    }

    /// A request that an earlier process has made still waits for a person.
    pub fn reopen_question(&mut self, request_id: &str, kind: &str) {
        insert_bounded(&mut self.questions, request_id, kind.to_owned());
    }

    /// A new run begins on the session.
    pub fn begin_run(&mut self) {
        self.exited = false;
        self.is_cancelled = false;
    }

    /// Somebody has cancelled the run: its calls have no outcome but that.
    pub fn cancel_run(&mut self) {
        self.is_cancelled = true;
    }

    /// The iteration that has started and not ended.
    pub fn iteration(&self) -> Option<usize> {
        self.iteration
    }

    /// Calls without an outcome, in the order they were announced.
    pub fn calls(&self) -> Vec<(&str, &OpenCall)> {
        let mut calls: Vec<_> = self
            .calls
            .iter()
            .map(|(id, call)| (id.as_str(), call))
            .collect();
        calls.sort_by_key(|(_, call)| call.order);
        calls
    }

    /// Searches without a result, by tool-use id.
    pub fn searches(&self) -> impl Iterator<Item = &str> {
        self.searches.keys().map(String::as_str)
    }

    /// Requests that wait for a person, with their kind.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.questions
            .iter()
            .map(|(id, kind)| (id.as_str(), kind.as_str()))
    }

    /// Composition runs that have not finished.
    pub fn compositions(&self) -> impl Iterator<Item = &str> {
        self.compositions.keys().map(String::as_str)
    }

    /// The events that close what is open, in the order they have to be emitted.
    pub fn closings(&self, session_id: &str, ending: Ending<'_>) -> Vec<AgentEvent> {
        let mut closings = self.call_closings(session_id, ending);
        let Ending::RunEnded(reason) = ending else {
            return closings;
        };
        closings.extend(self.search_closings(session_id));
        closings.extend(self.composition_closings(session_id, reason));
        closings.extend(self.iteration.map(|iteration| AgentEvent::IterationEnd {
            session_id: session_id.to_owned(),
            iteration,
            iteration_info: broken_off(reason).into(),
        }));
        closings.extend((!self.exited).then(|| AgentEvent::LoopCheckpoint {
            session_id: session_id.to_owned(),
            iteration: self.last_iteration,
            kind: "loop_exit".to_owned(),
            delivered: 0,
            inbox_delivered: 0,
            dispatch_skipped: false,
        }));
        closings
    }

    /// The events that end everything in a session that is about to close: also what
    /// a suspended run has left open, and what waits for a person.
    pub fn last_closings(&self, session_id: &str, has_run: bool) -> Vec<AgentEvent> {
        let is_open = has_run || self.iteration.is_some() || !self.calls.is_empty();
        let mut closings = match is_open {
            true => self.closings(session_id, Ending::RunEnded("session_closed")),
            false => Vec::new(),
        };
        closings.extend(self.question_closings(session_id));
        closings
    }

    fn announce(&mut self, id: &str, call: OpenCall) -> Admission {
        if let Some(known) = self.calls.get_mut(id) {
            known.tool_name = call.tool_name;
            return Admission::Duplicate;
        }
        if self.calls.len() >= OPEN_MAX {
            let oldest = self.calls().first().map(|(id, _)| (*id).to_owned());
            oldest.map(|id| self.calls.remove(&id));
        }
        self.ended_calls.retain(|ended| ended != id);
        self.calls_seen += 1;
        let order = self.calls_seen;
        let call = OpenCall { order, ..call };
        self.calls.insert(id.to_owned(), call);
        Admission::New
    }

    fn update(
        &mut self,
        id: &str,
        tool_name: &str,
        status: ToolCallStatus,
        parsing: Option<bool>,
    ) -> Admission {
        let is_terminal = matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed);
        let Some(call) = self.calls.get_mut(id) else {
            let has_ended = self.ended_calls.iter().any(|ended| ended == id);
            return if has_ended {
                Admission::Stale
            } else {
                Admission::New
            };
        };
        if is_terminal || (call.is_candidate && parsing == Some(false)) {
            self.calls.remove(id);
            if self.ended_calls.len() >= ENDED_MAX {
                self.ended_calls.pop_front();
            }
            self.ended_calls.push_back(id.to_owned());
            return Admission::New;
        }
        call.is_running |= status == ToolCallStatus::InProgress;
        if call.tool_name.is_empty() {
            tool_name.clone_into(&mut call.tool_name);
        }
        Admission::New
    }

    fn call_closings(&self, session_id: &str, ending: Ending<'_>) -> Vec<AgentEvent> {
        let is_affected = |call: &OpenCall| ending != Ending::StreamFailed || !call.is_running;
        let close = |(id, call): (&str, &OpenCall)| {
            let is_aborted = call.is_candidate || ending == Ending::StreamFailed;
            let (category, error) = if is_aborted {
                (
                    ToolCallErrorCategory::ParseAborted,
                    "the call never arrived in full",
                )
            } else if self.is_cancelled {
                (ToolCallErrorCategory::Cancelled, "the turn was cancelled")
            } else {
                (
                    ToolCallErrorCategory::AbandonedAtLoopExit,
                    "still open when the run ended",
                )
            };
            AgentEvent::ToolCallUpdate {
                session_id: session_id.to_owned(),
                tool_call_id: id.to_owned(),
                tool_name: call.tool_name.clone(),
                status: ToolCallStatus::Failed,
                raw_output: None,
                error: Some(error.to_owned()),
                duration_ms: None,
                execution_duration_ms: None,
                error_category: Some(category),
                executor: None,
                parsing: call.is_candidate.then_some(false),
                raw_input: None,
                raw_input_partial: None,
                audit: call.audit.as_deref().cloned(),
            }
        };
        self.calls()
            .into_iter()
            .filter(|(_, call)| is_affected(call))
            .map(close)
            .collect()
    }

    fn question_closings(&self, session_id: &str) -> impl Iterator<Item = AgentEvent> {
        self.questions
            .iter()
            .map(|(request_id, kind)| AgentEvent::HitlResolved {
                session_id: session_id.to_owned(),
                request_id: request_id.clone(),
                kind: kind.clone(),
                outcome: "cancelled".to_owned(),
            })
    }

    fn search_closings(&self, session_id: &str) -> impl Iterator<Item = AgentEvent> {
        self.searches
            .iter()
            .map(|(id, (strategy, mode))| AgentEvent::ToolSearchResult {
                session_id: session_id.to_owned(),
                tool_use_id: id.clone(),
                promoted: Vec::new(),
                strategy: strategy.clone(),
                mode: mode.clone(),
            })
    }

    fn composition_closings(
        &self,
        session_id: &str,
        reason: &str,
    ) -> impl Iterator<Item = AgentEvent> {
        self.compositions
            .values()
            .map(move |run| AgentEvent::CompositionError {
                session_id: session_id.to_owned(),
                run: CompositionRunEnvelope {
                    failure_category: Some(CompositionFailureCategory::Cancelled),
                    error: Some(format!("the run ended: {reason}")),
                    ..(**run).clone()
                },
            })
    }
}

/// What is told of an iteration that broke off. Readers rely on the first keys, and nobody is left
/// who could say what was measured.
fn broken_off(reason: &str) -> serde_json::Value {
    json!({
        "tool_count": 0,
        "text": "",
        "provider": "",
        "model": "",
        "response_ms": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "thinking_chars": 0,
        "dispatch_skipped": true,
        "skip_reason": reason,
    })
}

fn insert_bounded<T>(open: &mut BTreeMap<String, T>, id: &str, value: T) {
    if open.len() >= OPEN_MAX && !open.contains_key(id) {
        open.pop_first();
    }
    open.insert(id.to_owned(), value);
}
