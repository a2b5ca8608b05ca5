//! What came of a loop.

use std::sync::Arc;

use harn_llm::grammar::visible;
use serde_json::{Map, Value, json};

use crate::ledger::TaskLedger;
use crate::runtime::Runtime;
use crate::session::{Session, SessionState, kept};

/// What came of a loop. What a program gets of it is put together by
/// [`to_value`](Self::to_value); whoever asks for a text alone need not pay for a transcript.
pub struct LoopResult {
    /// `done`, `stuck`, `budget_exhausted`, …
    pub status: String,
    /// What the model wrote in all turns.
    pub text: String,
    /// What its last turn says to people.
    pub visible_text: String,
    /// Iterations made, those of an earlier process included.
    pub iterations: usize,
    /// How long it took.
    pub duration_ms: i64,
    /// The tools that were called, one entry per call.
    pub tools_used: Vec<String>,
    /// The tools that did what they were asked to.
    pub successful: Vec<String>,
    /// The tools that were refused.
    pub rejected: Vec<String>,
    /// How calls were written.
    pub tool_format: String,
    /// What was to be done.
    pub ledger: TaskLedger,
    /// How often completion was refused because of it.
    pub ledger_rejections: usize,
    /// User messages that came too late.
    pub deferred_user_messages: Vec<String>,
    /// `active`, or what a daemon did last.
    pub daemon_state: String,
    /// Where a daemon keeps what it has to know when it is started again.
    pub daemon_snapshot_path: Option<String>,
    /// What guards and judges tell, by key: `stop_reason`, `adaptive_budget`, …
    pub told: Map<String, Value>,
    runtime: Arc<Runtime>,
    session: Arc<Session>,
}

/// What the session cannot say of its loop.
pub(crate) struct Ending {
    pub(crate) status: String,
    pub(crate) duration_ms: i64,
    pub(crate) tool_format: String,
    pub(crate) is_daemon: bool,
    pub(crate) daemon_snapshot_path: Option<String>,
    /// What guards and judges tell, by key.
    pub(crate) told: Map<String, Value>,
}

impl LoopResult {
    /// Reads the state of a loop that has ended.
    pub(crate) fn of(runtime: &Arc<Runtime>, session: &Arc<Session>, ending: Ending) -> Self {
        session.read(|state: &SessionState| {
            let run = &state.run;
            Self {
                status: ending.status,
                text: run.total_text.clone(),
                visible_text: visible::sanitize(&run.last_text),
                iterations: run.total_iterations,
                duration_ms: ending.duration_ms,
                tools_used: run.tools_used.to_strings(),
                successful: run.successful_tools.to_strings(),
                rejected: distinct(&run.rejected),
                tool_format: ending.tool_format,
                ledger: run.ledger.clone(),
                ledger_rejections: run.ledger_rejections,
                deferred_user_messages: run.deferred_user_messages.clone(),
                daemon_state: match (ending.is_daemon, run.total_iterations) {
                    (true, _) => run.daemon_state.clone(),
                    (false, 0) => "done".to_owned(),
                    (false, _) => "active".to_owned(),
                },
                daemon_snapshot_path: ending.daemon_snapshot_path,
                told: ending.told,
                runtime: Arc::clone(runtime),
                session: Arc::clone(session),
            }
        })
    }

    /// The session the loop worked on.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// As programs see it. The transcript and the trace are those of now: what happens in the
    /// session after the loop is in them.
    pub fn to_value(&self) -> Value {
        let trace = self.runtime.desk.trace_summary();
        let mut new_id = || self.runtime.new_id();
        let transcript = self.session.transcript(&mut new_id);
        let mut value = json!({
            "status": self.status,
            "text": self.text,
            "visible_text": self.visible_text,
            "llm": {
                "iterations": self.iterations,
                "duration_ms": self.duration_ms,
                "input_tokens": trace["total_input_tokens"],
                "output_tokens": trace["total_output_tokens"],
            },
            "tools": {
                "calls": self.tools_used,
                "successful": self.successful,
                "rejected": self.rejected,
                "mode": self.tool_format,
            },
            "task_ledger": self.ledger.to_value(),
            "ledger_done_rejections": self.ledger_rejections,
            "deferred_user_messages": self.deferred_user_messages,
            "daemon_state": self.daemon_state,
            "daemon_snapshot_path": self.daemon_snapshot_path,
        });
        for (key, told) in &self.told {
            value[key] = told.clone();
        }
        // Moved in, because they are large.
        value["transcript"] = transcript;
        value["trace"] = trace;
        if self.status == "suspended" {
            value["suspension"] = self.session.kept(kept::SUSPENSION).unwrap_or_default();
        }
        value
    }
}

/// Each name once, in the order in which they came.
pub(crate) fn distinct(names: &[String]) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(name) {
            seen.push(name.clone());
        }
    }
    seen
}
