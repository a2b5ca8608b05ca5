//! What a chat shows: the events of its sessions, folded.
//!
//! ```text
//! AgentEvent ─► View::apply ─► entries, meter, what goes on ─► painting
//! ```
//!
//! It knows no terminal, no clock and no keys. Whatever goes into it is cleaned on the way, so
//! whoever draws it may draw everything.

mod entry;
mod meter;

use std::collections::HashMap;

use harn_events::{AgentEvent, ToolCallStatus};
use serde_json::Value;

use super::clean::{clean, clean_line};
use crate::commands::run::live::prices::Prices;
use crate::commands::sessions::conversation::Part;

pub(super) use entry::{Call, CallState, Entry, Kind};
pub(super) use meter::Meter;

/// Older entries are not shown any more; the log has them.
const ENTRIES_MAX: usize = 5000;
const BYTES_MAX: usize = 16 << 20;

/// What a chat shows.
#[derive(Default)]
pub(super) struct View {
    entries: Vec<Entry>,
    /// How many entries were there that are not shown any more.
    forgotten: usize,
    pub(super) meter: Meter,
    turn: Option<Turn>,
    /// The session whose loop began first in the turn. What its agent says is the answer; the
    /// loops that run inside it show only their calls.
    lead: Option<String>,
    /// Whether the answer goes on in the last entry.
    is_speaking: bool,
    /// Where the calls are that have not ended, by session and id.
    calls: HashMap<(String, String), usize>,
    /// The tools of the agent, each with what it does.
    tools: Vec<(String, String)>,
}

/// A turn that runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turn {
    pub(super) started_ms: u64,
    /// Whether somebody wants it to stop.
    pub(super) is_stopping: bool,
    has_answered: bool,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ended {
    /// With what the program gave, if that is a text.
    Well(Option<String>),
    /// It was about the chat itself, and this is to be told about it.
    Told(String),
    Cancelled,
    Failed(String),
}

impl View {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many entries were there before those that are shown.
    pub(super) fn forgotten(&self) -> usize {
        self.forgotten
    }

    pub(super) fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    pub(super) fn tools(&self) -> &[(String, String)] {
        &self.tools
    }

    pub(super) fn set_tools(&mut self, tools: &[(String, String)]) {
        let tools = tools.iter();
        let tools = tools.map(|(name, what)| (clean_line(name), clean_line(what)));
        self.tools = tools.collect();
    }

    /// What the agent said last.
    pub(super) fn last_answer(&self) -> Option<&str> {
        let mut entries = self.entries.iter().rev();
        entries.find_map(|entry| match &entry.kind {
            Kind::Answer(text) => Some(text.trim()),
            _ => None,
        })
    }

    /// The call of an id, if it has not ended.
    pub(super) fn open_call(&self, session_id: &str, id: &str) -> Option<&Call> {
        let at = self.calls.get(&(session_id.to_owned(), id.to_owned()))?;
        match &self.entries.get(at.checked_sub(self.forgotten)?)?.kind {
            Kind::Call(call) => Some(call),
            _ => None,
        }
    }

    /// What the agent does: the tool that runs, or the model that is asked.
    pub(super) fn doing(&self) -> String {
        let calls = self.entries.iter().rev().take(64);
        let mut calls = calls.filter_map(|entry| match &entry.kind {
            Kind::Call(call) if call.state == CallState::Running => Some(call),
            _ => None,
        });
        match calls.next() {
            Some(call) => format!("{} {}", call.name, call.told).trim_end().to_owned(),
            None if self.meter.model.is_empty() => "asking the model".to_owned(),
            None => format!("asking {}", self.meter.model),
        }
    }

    /// Says something to the person.
    pub(super) fn notice(&mut self, text: &str) {
        self.push(Kind::Notice(clean(text)));
    }

    /// Says what went wrong.
    pub(super) fn problem(&mut self, text: &str) {
        self.push(Kind::Problem(clean(text)));
    }

    /// Somebody wrote something.
    pub(super) fn prompt(&mut self, text: &str) {
        self.push(Kind::Prompt(clean(text)));
    }

    pub(super) fn begin_turn(&mut self, now_ms: u64) {
        self.turn = Some(Turn {
            started_ms: now_ms,
            ..Turn::default()
        });
        self.lead = None;
        self.is_speaking = false;
    }

    /// Somebody wants the turn to stop.
    pub(super) fn stop_turn(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.is_stopping = true;
        }
    }

    pub(super) fn end_turn(&mut self, ended: &Ended) {
        let turn = self.turn.take().unwrap_or_default();
        self.fail_open_calls();
        match ended {
            Ended::Well(Some(text)) if !turn.has_answered && !text.trim().is_empty() => {
                self.push(Kind::Answer(clean(text)));
            }
            Ended::Told(text) if !text.is_empty() => self.notice(text),
            Ended::Well(_) | Ended::Told(_) => {}
            Ended::Cancelled => self.notice("stopped"),
            Ended::Failed(why) => self.problem(why),
        }
    }

    /// The program printed something.
    pub(super) fn printed(&mut self, text: &str) {
        self.is_speaking = false;
        match self.entries.last_mut() {
            Some(entry) if matches!(entry.kind, Kind::Printed(_)) => entry.add(text),
            _ => self.push(Kind::Printed(clean(text))),
        }
    }

    /// What was said in a session that is taken up again.
    pub(super) fn past(&mut self, parts: Vec<Part>) {
        for part in parts {
            match part {
                Part::Said { role, text, calls } => self.past_said(&role, &text, calls),
                Part::Summary { text, .. } => {
                    self.notice(&format!("(what came before, in short)\n{text}"));
                }
            }
        }
    }

    fn past_said(
        &mut self,
        role: &str,
        text: &str,
        calls: Vec<crate::commands::sessions::conversation::Call>,
    ) {
        if role == "tool" {
            // Where there is no channel for results they are told in a text.
            let mut results = Call::new("results", false);
            results.state = CallState::Done;
            results.set_result(text);
            return self.push(Kind::Call(results));
        }
        if !text.trim().is_empty() {
            self.push(match role {
                "user" => Kind::Prompt(clean(text)),
                "assistant" => Kind::Answer(clean(text)),
                _ => Kind::Notice(clean(text)),
            });
        }
        for past in calls {
            let mut call = Call::new(&past.name, false);
            call.set_arguments(&serde_json::from_str(&past.arguments).unwrap_or(Value::Null));
            call.state = match &past.result {
                Some(_) => CallState::Done,
                None => CallState::Failed,
            };
            call.set_result(past.result.as_deref().unwrap_or("it has no result"));
            self.push(Kind::Call(call));
        }
    }

    /// Takes note of an event.
    pub(super) fn apply(&mut self, event: &AgentEvent, prices: &Prices) {
        match event {
            AgentEvent::IterationStart {
                session_id, model, ..
            } => {
                self.is_speaking = false;
                if self.is_lead(session_id) {
                    self.meter.model = clean_line(model);
                }
            }
            AgentEvent::IterationEnd {
                session_id,
                iteration_info,
                ..
            } => {
                let is_own = self.is_lead(session_id);
                self.meter.add(iteration_info.facts(), is_own, prices);
            }
            AgentEvent::AgentMessageChunk {
                session_id,
                content,
            } if self.is_lead(session_id) => self.answer(content),
            AgentEvent::AgentThoughtChunk {
                session_id,
                content,
            } if self.is_lead(session_id) => self.think(content),
            AgentEvent::ToolCall { .. } | AgentEvent::ToolCallUpdate { .. } => {
                self.apply_call(event);
            }
            _ => self.apply_news(event),
        }
    }

    /// Events that are worth a line.
    fn apply_news(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TranscriptCompacted {
                archived_messages,
                estimated_tokens_before,
                estimated_tokens_after,
                ..
            } => self.notice(&format!(
                "the conversation was shortened: {archived_messages} messages became a summary, \
                 about {estimated_tokens_before} tokens became {estimated_tokens_after}"
            )),
            AgentEvent::BudgetExhausted { kind, .. } => {
                let kind = kind.as_deref().unwrap_or("max_iterations");
                self.problem(&format!("the agent has used up its budget ({kind})"));
            }
            AgentEvent::LoopStuck { .. } => {
                self.problem("the agent does not get anywhere and has stopped");
            }
            _ => {}
        }
    }

    fn answer(&mut self, content: &str) {
        let goes_on = std::mem::replace(&mut self.is_speaking, true);
        if let Some(turn) = &mut self.turn {
            turn.has_answered |= !content.trim().is_empty();
        }
        match self.entries.last_mut() {
            Some(entry) if goes_on && matches!(entry.kind, Kind::Answer(_)) => entry.add(content),
            _ => self.push(Kind::Answer(clean(content.trim_start()))),
        }
    }

    fn think(&mut self, content: &str) {
        self.is_speaking = false;
        match self.entries.last_mut() {
            Some(entry) if matches!(entry.kind, Kind::Thought(_)) => entry.add(content),
            _ => self.push(Kind::Thought(clean(content.trim_start()))),
        }
    }

    fn apply_call(&mut self, event: &AgentEvent) {
        match event {
            // What looks like a call while the answer is arriving may become none.
            AgentEvent::ToolCall {
                parsing: Some(_), ..
            }
            | AgentEvent::ToolCallUpdate {
                parsing: Some(_), ..
            } => {}
            AgentEvent::ToolCall {
                session_id,
                tool_call_id,
                tool_name,
                kind,
                raw_input,
                ..
            } => self.change_call(session_id, tool_call_id, tool_name, |call| {
                call.kind = *kind;
                call.set_arguments(raw_input);
            }),
            AgentEvent::ToolCallUpdate {
                session_id,
                tool_call_id,
                tool_name,
                status,
                raw_input,
                raw_output,
                error,
                duration_ms,
                ..
            } => self.change_call(session_id, tool_call_id, tool_name, |call| {
                if let Some(arguments) = raw_input {
                    call.set_arguments(arguments);
                }
                call.state = match status {
                    ToolCallStatus::Pending => CallState::Pending,
                    ToolCallStatus::InProgress => CallState::Running,
                    ToolCallStatus::Completed => CallState::Done,
                    ToolCallStatus::Failed => CallState::Failed,
                };
                call.took_ms = *duration_ms;
                if let Some(error) = error {
                    call.set_result(error);
                } else if let Some(output) = raw_output {
                    call.set_result(&text_of(output));
                }
            }),
            _ => {}
        }
    }

    /// Changes what is known about a call; one that is new is known from now on.
    fn change_call(
        &mut self,
        session_id: &str,
        id: &str,
        name: &str,
        change: impl FnOnce(&mut Call),
    ) {
        self.is_speaking = false;
        let key = (session_id.to_owned(), id.to_owned());
        let at = match self.calls.get(&key) {
            Some(at) => *at,
            None => {
                let is_inner = !self.is_lead(session_id);
                self.push(Kind::Call(Call::new(name, is_inner)));
                let at = self.forgotten + self.entries.len() - 1;
                self.calls.insert(key.clone(), at);
                at
            }
        };
        let entry = at
            .checked_sub(self.forgotten)
            .and_then(|at| self.entries.get_mut(at));
        let Some(Entry {
            kind: Kind::Call(call),
            revision,
        }) = entry
        else {
            return;
        };
        change(call);
        *revision += 1;
        if !call.is_open() {
            self.calls.remove(&key);
        }
    }

    /// A turn that is over leaves no call open.
    fn fail_open_calls(&mut self) {
        for (_, at) in std::mem::take(&mut self.calls) {
            let entry = at
                .checked_sub(self.forgotten)
                .and_then(|at| self.entries.get_mut(at));
            if let Some(Entry {
                kind: Kind::Call(call),
                revision,
            }) = entry
            {
                call.state = CallState::Failed;
                call.set_result("it was stopped");
                *revision += 1;
            }
        }
    }

    /// Whether a session is that of the agent itself: whichever comes first is.
    fn is_lead(&mut self, session_id: &str) -> bool {
        let lead = self.lead.get_or_insert_with(|| session_id.to_owned());
        lead == session_id
    }

    fn push(&mut self, kind: Kind) {
        let bytes: usize = self.entries.iter().map(Entry::bytes).sum();
        if self.entries.len() >= ENTRIES_MAX || bytes >= BYTES_MAX {
            // Half of them at once, so that it is seldom.
            let count = self.entries.len() / 2;
            self.entries.drain(..count);
            self.forgotten += count;
        }
        self.entries.push(Entry::new(kind));
    }
}

/// What a tool gave, as people read it.
fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => match other["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("{other:#}"),
        },
    }
}

#[cfg(test)]
mod tests;
