//! What readers see while an answer is still arriving.
//!
//! ```text
//! TextDelta ────┬─► sanitiser ─► redactor ─► agent_message_chunk
//!               └─► candidates ─► tool_call / tool_call_update (parsing)
//! ThoughtDelta ───► redactor ─► agent_thought_chunk
//! ToolCallStart, ToolArgsDelta ─► tool_call, tool_call_update (pending)
//! ```
//!
//! Nothing here runs a tool: the whole answer decides that.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use harn_events::{AgentEvent, StreamRedactor, ToolCallErrorCategory, ToolCallStatus};
use harn_llm::StreamEvent;
use harn_llm::grammar::contract::Mode;
use harn_llm::grammar::visible::VisibleStream;
use harn_llm::grammar::{Candidate, Candidates, Channel, ToolNames};
use harn_llm::partial_json::{PartialJson, Snapshot};
use serde_json::{Value, json};

use super::Run;
use super::turn::free_id;
use crate::session::Change;

/// How often growing arguments are told at most.
const GROWTH_INTERVAL_MS: i64 = 50;

/// Watches an answer.
pub(super) struct Watcher<'a> {
    run: &'a Run<'a>,
    visible: VisibleStream,
    candidates: Option<Candidates>,
    /// The ids of candidates, by their number.
    candidate_ids: Vec<(u64, String, String)>,
    calls: Vec<Streamed>,
    /// Hold back what could be the beginning of a secret.
    text_shown: StreamRedactor,
    thoughts_shown: StreamRedactor,
    told: Told,
}

/// What was told while the answer arrived, and need not be told again.
#[derive(Clone, Default)]
pub(super) struct Told {
    pub(super) text: bool,
    pub(super) thoughts: bool,
    /// The ids under which calls were announced, by the ids that the answer has for them.
    pub(super) calls: Vec<(String, String)>,
}

/// The calls of the last answer that were announced before their arguments were known. Calls of
/// earlier answers may have had the same ids.
#[derive(Default)]
pub(super) struct StreamedCalls(Mutex<BTreeSet<String>>);

impl StreamedCalls {
    fn clear(&self) {
        self.lock().clear();
    }

    fn add(&self, id: &str) {
        self.lock().insert(id.to_owned());
    }

    /// Whether a call is one of them.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.lock().contains(id)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call whose arguments are arriving.
struct Streamed {
    id: String,
    /// The id that the answer will have for it.
    model_id: String,
    name: String,
    arguments: PartialJson,
    told_at_ms: i64,
    /// Whether readers know all of the arguments that have arrived.
    is_told: bool,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(run: &'a Run<'a>) -> Self {
        let channel = match run.mode {
            Mode::Text => Some(Channel::Tagged),
            Mode::Json => Some(Channel::Fenced),
            Mode::Native => None,
        };
        let channel = channel.filter(|_| run.has_tools);
        run.streamed.clear();
        let candidates = channel.map(|channel| {
            let names: ToolNames = run.offered_names().collect();
            Candidates::new(names, channel, 0)
        });
        let policy = run.runtime.bus.redaction_policy();
        Self {
            run,
            visible: VisibleStream::default(),
            candidates,
            candidate_ids: Vec::new(),
            calls: Vec::new(),
            text_shown: StreamRedactor::new((*policy).clone()),
            thoughts_shown: StreamRedactor::new((*policy).clone()),
            told: Told::default(),
        }
    }

    /// Takes the next piece.
    pub(super) fn see(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Start { .. } => self.restart(),
            StreamEvent::TextDelta { text } => self.text(text),
            StreamEvent::ThoughtDelta { text } if !text.is_empty() => {
                self.told.thoughts = true;
                let before = self.text_shown.pause();
                self.tell_text(before);
                let shown = self.thoughts_shown.push(text);
                self.tell_thoughts(shown);
            }
            StreamEvent::ToolCallStart { index, id, name } => {
                if *index < self.calls.len() {
                    self.restart();
                }
                self.open_call(id.as_deref(), name);
            }
            StreamEvent::ToolArgsDelta { index, text } => self.grow_call(*index, text),
            _ => {}
        }
    }

    /// The answer broke off and begins again: what was announced will never arrive.
    fn restart(&mut self) {
        self.show_rest();
        let is_begun = !self.calls.is_empty() || !self.candidate_ids.is_empty();
        if is_begun {
            let session_id = self.run.session.id();
            self.run.runtime.bus.close_aborted_calls(session_id);
        }
        let told = std::mem::take(&mut self.told);
        *self = Self {
            told,
            ..Self::new(self.run)
        };
    }

    /// The answer is complete, or will never be.
    pub(super) fn finish(mut self) -> Told {
        if self.told.text {
            let shown = self.visible.finish();
            self.show(shown.delta);
        }
        self.show_rest();
        if let Some(candidates) = &mut self.candidates {
            let last = candidates.finish();
            self.announce(last);
        }
        // The announcement by the dispatcher is the second one and reaches no sink, so this is
        // where they learn what the arguments are.
        for call in self.calls.iter().filter(|call| !call.is_told) {
            self.emit(grown(call, self.run));
        }
        let calls = self.calls.into_iter().map(|call| (call.model_id, call.id));
        self.told.calls = calls.collect();
        self.told
    }

    fn emit(&self, event: AgentEvent) {
        self.run.session.emit(&event);
    }

    fn text(&mut self, text: &str) {
        let shown = self.visible.feed(text);
        self.show(shown);
        if let Some(candidates) = &mut self.candidates {
            let found = candidates.push(text);
            self.announce(found);
        }
    }

    fn show(&mut self, content: String) {
        if content.is_empty() {
            return;
        }
        self.told.text = true;
        let before = self.thoughts_shown.pause();
        self.tell_thoughts(before);
        let shown = self.text_shown.push(&content);
        self.tell_text(shown);
    }

    /// Shows what was held back: nothing follows that could make a secret of it.
    fn show_rest(&mut self) {
        let thoughts = self.thoughts_shown.finish();
        self.tell_thoughts(thoughts);
        let text = self.text_shown.finish();
        self.tell_text(text);
    }

    fn tell_text(&self, content: String) {
        if !content.is_empty() {
            let session_id = self.run.id();
            self.emit(AgentEvent::AgentMessageChunk {
                session_id,
                content,
            });
        }
    }

    fn tell_thoughts(&self, content: String) {
        if !content.is_empty() {
            let session_id = self.run.id();
            self.emit(AgentEvent::AgentThoughtChunk {
                session_id,
                content,
            });
        }
    }

    fn open_call(&mut self, id: Option<&str>, name: &str) {
        let number = self.calls.len();
        let (id, model_id) = match id {
            Some(id) => (format!("tool-{id}"), id.to_owned()),
            None => (format!("tool-stream-{number}"), format!("call_{number}")),
        };
        let id = free_id(&id, self.calls.iter().map(|call| &*call.id));
        self.run.streamed.add(&id);
        self.emit(AgentEvent::ToolCall {
            session_id: self.run.id(),
            tool_call_id: id.clone(),
            tool_name: name.to_owned(),
            kind: self.run.tool(name).and_then(|entry| entry.kind()),
            status: ToolCallStatus::Pending,
            raw_input: json!({}),
            parsing: None,
            audit: self.run.audit(),
        });
        self.calls.push(Streamed {
            id,
            name: name.to_owned(),
            model_id,
            arguments: PartialJson::default(),
            told_at_ms: 0,
            is_told: true,
        });
    }

    fn grow_call(&mut self, index: usize, piece: &str) {
        let now = self.run.runtime.now_ms();
        let Some(call) = self.calls.get_mut(index) else {
            return;
        };
        call.arguments.push(piece);
        call.is_told = false;
        if now - call.told_at_ms < GROWTH_INTERVAL_MS {
            return;
        }
        call.told_at_ms = now;
        call.is_told = true;
        let event = grown(call, self.run);
        self.emit(event);
    }

    fn announce(&mut self, found: Vec<Candidate>) {
        for candidate in found {
            let event = match candidate {
                Candidate::Opened { n, tool } => {
                    let id = self.next_candidate_id();
                    let name = tool.unwrap_or_default();
                    self.candidate_ids.push((n, id.clone(), name.clone()));
                    AgentEvent::ToolCall {
                        session_id: self.run.id(),
                        tool_call_id: id,
                        kind: self.run.tool(&name).and_then(|entry| entry.kind()),
                        tool_name: name,
                        status: ToolCallStatus::Pending,
                        raw_input: json!({}),
                        parsing: Some(true),
                        audit: self.run.audit(),
                    }
                }
                Candidate::Promoted { n, name, arguments } => {
                    let (id, _) = self.close_candidate(n);
                    closed(self.run, id, name, Ok(arguments))
                }
                Candidate::Aborted { n, message } => {
                    let (id, name) = self.close_candidate(n);
                    closed(self.run, id, name, Err(message))
                }
            };
            self.emit(event);
        }
    }

    /// Numbers rise over the session, also where another process goes on with it.
    fn next_candidate_id(&self) -> String {
        self.run.session.decide(|state| {
            let id = format!("text-cand-{}", state.candidates + 1);
            (Some(Change::CandidateSpotted), id)
        })
    }

    fn close_candidate(&mut self, n: u64) -> (String, String) {
        let at = self
            .candidate_ids
            .iter()
            .position(|(known, ..)| *known == n);
        let found = at.map(|at| self.candidate_ids.swap_remove(at));
        found.map_or_else(Default::default, |(_, id, name)| (id, name))
    }
}

/// The end of a candidate: it is a call, or it is none.
fn closed(
    run: &Run<'_>,
    tool_call_id: String,
    tool_name: String,
    outcome: Result<Value, String>,
) -> AgentEvent {
    let (raw_input, error) = match outcome {
        Ok(arguments) => (Some(arguments), None),
        Err(message) => (None, Some(message)),
    };
    let is_aborted = error.is_some();
    AgentEvent::ToolCallUpdate {
        session_id: run.id(),
        tool_call_id,
        tool_name,
        status: match is_aborted {
            true => ToolCallStatus::Failed,
            false => ToolCallStatus::Pending,
        },
        raw_output: None,
        error,
        duration_ms: None,
        execution_duration_ms: None,
        error_category: is_aborted.then_some(ToolCallErrorCategory::ParseAborted),
        executor: None,
        parsing: Some(false),
        raw_input,
        raw_input_partial: None,
        audit: run.audit(),
    }
}

/// Arguments that are growing: what they say so far, or else their text. That is worked out if
/// somebody reads it.
fn grown(call: &Streamed, run: &Run<'_>) -> AgentEvent {
    let is_heard = run.runtime.bus.has_readers(run.session.id());
    let (raw_input, raw_input_partial) = match is_heard.then(|| call.arguments.snapshot()) {
        Some(Snapshot::Parsed(value)) => (Some(value), None),
        Some(Snapshot::Partial(text)) => (None, Some(text)),
        None => (None, None),
    };
    AgentEvent::ToolCallUpdate {
        session_id: run.id(),
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        status: ToolCallStatus::Pending,
        raw_output: None,
        error: None,
        duration_ms: None,
        execution_duration_ms: None,
        error_category: None,
        executor: None,
        parsing: None,
        raw_input,
        raw_input_partial,
        audit: run.audit(),
    }
}
