//! What a session is at any point of its journal.
//!
//! [`SessionState::apply`] is the only way it changes: in a live run, when a journal is read
//! again, and wherever somebody looks at an earlier point of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use harn_events::NameList;
use harn_llm::Messages;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::{CallOutcome, Change};
use super::content::{Content, origins};
use super::controls::ControlState;
use super::kept;
use super::stored_reply::StoredReply;
use super::transcript_event::TranscriptEvent;
use super::turns::Turns;
use super::untold::UntoldCall;
use crate::ledger::TaskLedger;
use crate::loop_detector::LoopDetector;
use crate::loop_result::distinct;
use crate::policy::SessionGrants;
use crate::transcript::add_summary;

/// How long a daemon waits first when it has nothing to do.
pub(crate) const IDLE_BACKOFF_MS_FIRST: u64 = 100;

/// What a session is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    /// What the model sees.
    pub messages: Messages,
    /// For each of these, which of the recorded messages it is or stands for: the first and
    /// the last.
    pub origins: Vec<(usize, usize)>,
    /// Everything that was ever said.
    pub recorded: Messages,
    /// Which of these were given by a program and are shown as they were given.
    #[serde(default)]
    pub as_given: BTreeSet<usize>,
    /// Messages that a program has given and that wait for the results of calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Value>,
    /// The answer of a model that was not made a turn of yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Box<StoredReply>>,
    /// The calls of the last turn whose results were not told yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<UntoldCall>,
    /// Transcript events that are no messages.
    pub events: Vec<TranscriptEvent>,
    /// Large things that messages refer to.
    pub assets: Vec<Value>,
    /// The transcript in short.
    pub summary: Option<String>,
    /// What a program noted about the transcript.
    pub metadata: Option<Value>,
    /// `active`, `paused`, …
    pub transcript_state: Option<String>,
    /// The session this one comes from.
    pub parent_id: Option<String>,
    /// The sessions that come from this one.
    pub child_ids: Vec<String>,
    /// How many of the parent's transcript events it has.
    pub branched_at_event_index: Option<u64>,
    /// The skills that were active at the end of the last loop.
    pub active_skills: Vec<String>,
    /// Permissions that were granted for the session.
    pub grants: SessionGrants,
    /// What parts of the runtime keep here.
    pub kept: BTreeMap<String, Value>,
    /// The ids of the messages of users that were ever said here, whatever became of them.
    #[serde(default)]
    pub heard: BTreeSet<String>,
    /// What all its loops have cost.
    #[serde(default)]
    pub spent_usd: f64,
    /// How often something that may become a call was seen in a text that was arriving.
    #[serde(default)]
    pub candidates: u64,
    /// The turns that can be undone and done again.
    #[serde(default)]
    pub turns: Turns,
    /// The loop that runs, or ran last.
    pub run: RunState,
}

/// How far a loop has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunState {
    /// `done`, `stuck`, …; empty while it runs.
    pub status: String,
    /// The iteration it is in, from 0.
    pub iteration: usize,
    /// Iterations made so far, those of an earlier process included.
    pub total_iterations: usize,
    /// Those of an earlier process.
    pub resumed_iterations: usize,
    /// What the model wrote in all turns.
    pub total_text: String,
    /// How many answers were heard in this iteration besides that of the turn, by place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub heard: BTreeMap<String, u64>,
    /// What it wrote in the last one.
    pub last_raw_text: String,
    /// What that says to people.
    pub last_text: String,
    /// The tools that were called, one entry per call.
    pub tools_used: NameList,
    /// The calls that went well, one entry per call.
    pub successful: Vec<String>,
    /// Their tools, each once.
    #[serde(skip)]
    pub successful_tools: NameList,
    /// The calls that were refused, one entry per call.
    pub rejected: Vec<String>,
    /// The calls that run.
    pub open_calls: BTreeMap<String, String>,
    /// Turns in a row without a call.
    pub text_only_turns: usize,
    /// Turns in a row with just one.
    pub single_tool_turns: usize,
    /// The status with which the last `run` ended.
    pub last_run_exit_code: Option<i64>,
    /// Answers whose calls came as text although there is a channel for them.
    pub native_fallbacks: usize,
    /// Those of them that were refused.
    pub native_fallback_rejections: usize,
    /// What is to be done.
    pub ledger: TaskLedger,
    /// How often completion was refused because of it.
    pub ledger_rejections: usize,
    /// What was called again and again.
    pub loop_detector: LoopDetector,
    /// Options for the next call only.
    pub next_options: Option<Map<String, Value>>,
    /// User messages that came too late.
    pub deferred_user_messages: Vec<String>,
    /// Tools that were searched for and found, oldest first.
    pub promoted: Vec<String>,
    /// Skills that the model asked for, oldest first.
    pub loaded_skills: Vec<String>,
    /// What the loop has cost.
    pub cost_usd: f64,
    /// Tokens read and written.
    pub tokens: u64,
    /// How often the conversation was shortened.
    pub compactions: usize,
    /// `idle`, `active`, …
    pub daemon_state: String,
    /// How long a daemon waits next time.
    pub idle_backoff_ms: u64,
    /// When the watched files were last changed.
    pub watch_state: Map<String, Value>,
    /// What guards and judges have decided.
    pub controls: ControlState,
}

impl SessionState {
    /// Applies a change.
    pub fn apply(&mut self, change: Change) {
        self.prepare_undoing(&change);
        match change {
            Change::Opened => *self = Self::default(),
            // It is about the journal, not about the session.
            Change::Accepted => {}
            Change::Resumed => {
                self.run.open_calls.clear();
                self.release_held();
            }
            Change::Restored { transcript } => self.restore(&transcript),
            Change::Forked { content } => self.fork(*content),
            Change::RolledBack => self.roll_back(),
            Change::Redone => self.redo(),
            Change::Linked {
                parent_id,
                branched_at_event_index,
            } => {
                self.parent_id = parent_id;
                self.branched_at_event_index = branched_at_event_index;
            }
            Change::ChildAdded { id } => {
                if !self.child_ids.contains(&id) {
                    self.child_ids.push(id);
                }
            }
            Change::ChildRemoved { id } => self.child_ids.retain(|child| *child != id),
            Change::Reset => self.reset(),
            Change::Injected { message } => self.inject(message),
            Change::Trimmed { keep_last } => self.trim(keep_last),
            Change::MessageAdded { message } => {
                self.note_telling(&message);
                self.note_turn(&message);
                self.add_message(message);
                self.release_held();
            }
            Change::CallsListed { calls } => self.untold = calls,
            Change::CallAnswered { id, name, text } => self.note_result(&id, &name, &text),
            Change::Prepended { message } => self.prepend(message),
            Change::MessageWithdrawn => self.withdraw(),
            Change::EventAdded { event } => self.events.push(event),
            Change::Compacted {
                keep_first,
                split,
                replaced,
                message,
            } => self.compact(keep_first, split, replaced, message),
            Change::SummaryAdded { more } => add_summary(&mut self.summary, &more),
            Change::SummarySet { summary } => self.summary = summary,
            Change::TranscriptStateSet { state } => self.transcript_state = Some(state),
            Change::AssetAdded { asset } => self.assets.push(asset),
            Change::SkillsSet { names } => self.active_skills = names,
            Change::Kept { name, value } => {
                match value.is_null() {
                    true => self.kept.remove(&name),
                    false => self.kept.insert(name, value),
                };
            }
            Change::Granted { grant } => {
                self.grants.insert(grant);
            }
            Change::GrantsDropped => self.grants = SessionGrants::default(),
            Change::CandidateSpotted => self.candidates += 1,
            change => {
                match &change {
                    Change::Answered {
                        cost_usd, reply, ..
                    } => {
                        self.spent_usd += cost_usd;
                        if reply.is_some() {
                            self.unread.clone_from(reply);
                        }
                    }
                    Change::IterationStarted { .. } => {
                        // Whatever the turn before was to leave behind is there.
                        self.unread = None;
                        self.untold.clear();
                    }
                    Change::CallStarted { id, name, .. } => self.note_beginning(id, name),
                    Change::CallFinished { id, name, text, .. } => self.note_result(id, name, text),
                    _ => {}
                }
                let is_end = matches!(change, Change::RunEnded { .. });
                self.run.apply(change);
                if is_end {
                    // The loop has decided what becomes of it.
                    self.unread = None;
                    self.release_held();
                }
            }
        }
    }

    /// What a model has answered is a turn of the conversation from now on.
    fn note_turn(&mut self, message: &Value) {
        if self.unread.is_some() && message["role"] == "assistant" {
            self.unread = None;
        }
    }

    pub(super) fn add_message(&mut self, message: Value) {
        let id = message["messageId"].as_str();
        if let Some(id) = id.filter(|_| message["role"] == "user") {
            self.heard.insert(id.to_owned());
        }
        let (place, message) = (self.recorded.len(), Arc::new(message));
        self.recorded.push(Arc::clone(&message));
        self.messages.push(message);
        self.origins.push((place, place));
    }

    fn prepend(&mut self, message: Value) {
        for (first, last) in &mut self.origins {
            (*first, *last) = (*first + 1, *last + 1);
        }
        self.as_given = self.as_given.iter().map(|place| place + 1).collect();
        let message = Arc::new(message);
        self.recorded.prepend(Arc::clone(&message));
        self.messages.prepend(message);
        self.origins.insert(0, (0, 0));
    }

    /// The last message was never said. Only one that stands for itself can be taken back.
    fn withdraw(&mut self) {
        let last = self.recorded.len().checked_sub(1);
        if let Some(last) = last
            && self.origins.last() == Some(&(last, last))
        {
            self.recorded.pop();
            self.as_given.remove(&last);
            self.messages.pop();
            self.origins.pop();
        }
    }

    fn trim(&mut self, keep_last: usize) {
        let keep_last = keep_last.max(self.open_turn());
        let content = self.content().last(keep_last);
        self.set_content(content);
    }

    /// Nothing was said. Who the session is, where it works and the loop that may be running
    /// stay, with the turn that it is busy with.
    fn reset(&mut self) {
        let said = match self.open_turn() {
            0 => Content::default(),
            open => Content::of_turn(self.content().last(open)),
        };
        let before = std::mem::take(self);
        let mut kept = before.kept;
        kept.retain(|name, _| kept::SURVIVES_RESET.contains(&name.as_str()));
        *self = Self {
            parent_id: before.parent_id,
            child_ids: before.child_ids,
            branched_at_event_index: before.branched_at_event_index,
            run: before.run,
            heard: before.heard,
            spent_usd: before.spent_usd,
            candidates: before.candidates,
            kept,
            ..Self::default()
        };
        self.set_content(said);
    }

    fn restore(&mut self, transcript: &Value) {
        let list = |key: &str| transcript[key].as_array().cloned().unwrap_or_default();
        self.messages = list("messages").into();
        // Most transcripts know only what the model sees.
        self.recorded = match transcript["recorded_messages"].as_array() {
            Some(recorded) if !recorded.is_empty() => recorded.clone().into(),
            _ => self.messages.clone(),
        };
        self.as_given.clear();
        self.untold.clear();
        self.unread = None;
        self.origins = origins(&self.messages, &self.recorded);
        let is_extra =
            |event: &Value| !matches!(event["kind"].as_str(), Some("message" | "tool_result"));
        let events = list("events").into_iter().filter(is_extra);
        self.events = events.map(TranscriptEvent::from).collect();
        self.assets = list("assets");
        self.summary = transcript["summary"].as_str().map(str::to_owned);
        self.metadata = transcript.get("metadata").cloned();
        self.transcript_state = transcript["state"].as_str().map(str::to_owned);
    }

    fn compact(
        &mut self,
        keep_first: usize,
        split: usize,
        replaced: (usize, usize),
        message: Value,
    ) {
        let split = split.min(self.messages.len());
        let keep_first = keep_first.min(split);
        self.messages.splice(keep_first..split, [message]);
        self.origins.splice(keep_first..split, [replaced]);
        self.run.compactions += 1;
    }
}

impl RunState {
    fn apply(&mut self, change: Change) {
        match change {
            Change::RunStarted {
                ledger,
                resumed_iterations,
            } => {
                *self = Self {
                    ledger,
                    resumed_iterations,
                    total_iterations: resumed_iterations,
                    idle_backoff_ms: IDLE_BACKOFF_MS_FIRST,
                    ..Self::default()
                };
            }
            Change::RunRestored { run } => {
                *self = *run;
                self.successful_tools = distinct(&self.successful).into_iter().collect();
            }
            Change::IterationStarted { iteration } => {
                self.heard.clear();
                self.iteration = iteration;
                self.total_iterations = self.resumed_iterations + iteration + 1;
            }
            Change::Answered {
                text,
                input_tokens,
                output_tokens,
                cost_usd,
                reply,
            } => {
                let text = reply.map_or(text, |reply| reply.text);
                self.total_text.push_str(&text);
                self.last_raw_text = text;
                self.tokens += input_tokens + output_tokens;
                self.cost_usd += cost_usd;
                self.next_options = None;
            }
            Change::Heard { place, .. } => *self.heard.entry(place).or_default() += 1,
            Change::TurnRead { last_text } => self.last_text = last_text,
            Change::FellBack { accepted } => {
                self.native_fallbacks += 1;
                self.native_fallback_rejections += usize::from(!accepted);
            }
            Change::CallStarted { id, name, .. } => {
                self.tools_used.push(&*name);
                self.open_calls.insert(id, name);
            }
            Change::CallFinished {
                id, name, outcome, ..
            } => self.finish_call(&id, name, outcome),
            Change::PseudoToolUsed { name } => {
                self.tools_used.push(&*name);
                self.succeed(name);
            }
            Change::PseudoToolFailed { name } => self.tools_used.push(name),
            Change::SkillLoaded { id } if !self.loaded_skills.contains(&id) => {
                self.loaded_skills.push(id);
            }
            Change::CallRefused { name } => self.rejected.push(name),
            Change::ResultSeen { key, result } => self.loop_detector.see(&key, &result),
            Change::ExitCodeSeen { code } => self.last_run_exit_code = Some(code),
            Change::ToolTurnEnded { calls } => {
                self.single_tool_turns = match calls {
                    1 => self.single_tool_turns + 1,
                    _ => 0,
                };
            }
            Change::TextOnlyTurns { count } => self.text_only_turns = count,
            Change::LedgerSet { ledger } => self.ledger = ledger,
            Change::LedgerRejected => self.ledger_rejections += 1,
            Change::NextOptionsSet { options } => self.next_options = options,
            Change::Deferred { message } => self.deferred_user_messages.push(message),
            Change::Promoted { names } => self.promoted = names,
            Change::DaemonSet { state, backoff_ms } => {
                self.daemon_state = state;
                self.idle_backoff_ms = backoff_ms;
            }
            Change::ControlsSet { controls } => self.controls = *controls,
            Change::Watched { stamps } => self.watch_state = stamps,
            Change::RunEnded { status } => {
                self.status = status;
                self.open_calls.clear();
            }
            _ => {}
        }
    }

    fn succeed(&mut self, name: String) {
        if !self.successful_tools.contains(&name) {
            self.successful_tools.push(&*name);
        }
        self.successful.push(name);
    }

    fn finish_call(&mut self, id: &str, name: String, outcome: CallOutcome) {
        self.open_calls.remove(id);
        match outcome {
            CallOutcome::Ok => self.succeed(name),
            CallOutcome::Rejected => self.rejected.push(name),
            CallOutcome::Error => {}
        }
    }
}
