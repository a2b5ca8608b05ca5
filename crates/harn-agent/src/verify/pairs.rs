//! What begins also ends, once.

use std::collections::{BTreeMap, BTreeSet};

use harn_events::{AgentEvent, ToolCallStatus};

use super::Findings;

/// What has begun and not yet ended.
#[derive(Default)]
pub(super) struct Pairs {
    calls: BTreeMap<String, Call>,
    searches: BTreeMap<String, u64>,
    questions: BTreeMap<String, u64>,
    /// Requests of a process that has died. One that goes on with the session may go on with
    /// them, so they may end and need not.
    earlier_questions: BTreeMap<String, u64>,
    compositions: BTreeMap<String, u64>,
    children: BTreeSet<(String, String)>,
    /// Whether ends without a beginning are forgiven: the beginning may have been thrown away.
    forgives: bool,
}

/// A call without an outcome.
struct Call {
    index: u64,
    is_candidate: bool,
    is_running: bool,
}

impl Pairs {
    pub(super) fn forgive(&mut self) {
        self.forgives = true;
    }

    /// Another process goes on with the session. Only what waits for people outlives the one
    /// before.
    pub(super) fn begin_again(&mut self) {
        let before = std::mem::take(self);
        self.earlier_questions = before.earlier_questions;
        self.earlier_questions.extend(before.questions);
    }

    pub(super) fn see(&mut self, index: u64, event: &AgentEvent, findings: &mut Findings) {
        match event {
            AgentEvent::ToolCall {
                tool_call_id,
                parsing,
                status,
                ..
            } => {
                let call = Call {
                    index,
                    is_candidate: *parsing == Some(true),
                    is_running: *status == ToolCallStatus::InProgress,
                };
                self.start_call(tool_call_id, call, findings);
            }
            AgentEvent::ToolCallUpdate { .. } => self.update_call(index, event, findings),
            AgentEvent::ToolSearchQuery { tool_use_id, .. } => {
                begin(&mut self.searches, index, "search", tool_use_id, findings);
            }
            AgentEvent::ToolSearchResult { tool_use_id, .. } => {
                let forgives = self.forgives;
                let open = &mut self.searches;
                end(open, index, "search", tool_use_id, forgives, findings);
            }
            AgentEvent::HitlRequested { request_id, .. } => {
                if let Some(since) = self.earlier_questions.remove(request_id) {
                    self.questions.insert(request_id.clone(), since);
                }
                begin(&mut self.questions, index, "request", request_id, findings);
            }
            AgentEvent::HitlResolved { request_id, .. } => {
                let is_earlier = self.earlier_questions.remove(request_id).is_some();
                let forgives = self.forgives || is_earlier;
                let open = &mut self.questions;
                end(open, index, "request", request_id, forgives, findings);
            }
            AgentEvent::CompositionStart { run, .. } => {
                let open = &mut self.compositions;
                begin(open, index, "composition", &run.run_id, findings);
            }
            AgentEvent::CompositionFinish { run, .. }
            | AgentEvent::CompositionError { run, .. } => {
                let forgives = self.forgives;
                let open = &mut self.compositions;
                end(open, index, "composition", &run.run_id, forgives, findings);
                self.end_children(index, &run.run_id, findings);
            }
            AgentEvent::CompositionChildCall { call, .. } => {
                self.within_composition(index, &call.run_id, &call.tool_call_id, findings);
                let child = (call.run_id.clone(), call.tool_call_id.clone());
                self.children.insert(child);
            }
            AgentEvent::CompositionChildResult { result, .. } => {
                self.within_composition(index, &result.run_id, &result.tool_call_id, findings);
                let child = (result.run_id.clone(), result.tool_call_id.clone());
                self.children.remove(&child);
            }
            AgentEvent::LoopCheckpoint { kind, .. } if kind == "loop_exit" => {
                self.end_of_run(index, findings);
                self.forgives = false;
            }
            AgentEvent::SessionClosed { .. } => self.end_of_session(index, findings),
            _ => {}
        }
    }

    fn start_call(&mut self, id: &str, call: Call, findings: &mut Findings) {
        let index = call.index;
        if let Some(first) = self.calls.insert(id.to_owned(), call) {
            findings.broken(
                index,
                format!(
                    "call `{id}` starts although it is open since record {}",
                    first.index
                ),
                "a call has one start",
            );
        }
    }

    fn update_call(&mut self, index: u64, event: &AgentEvent, findings: &mut Findings) {
        let AgentEvent::ToolCallUpdate {
            tool_call_id: id,
            status,
            parsing,
            ..
        } = event
        else {
            return;
        };
        check_fields(index, event, findings);
        let Some(call) = self.calls.get_mut(id) else {
            if !self.forgives {
                findings.broken(
                    index,
                    format!("call `{id}` is updated although it is not open"),
                    "a call has one start, and nothing is said about it after its end",
                );
            }
            return;
        };
        let is_end = matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed);
        if *parsing == Some(false) && !call.is_candidate {
            findings.broken(
                index,
                format!("call `{id}` ends a candidate phase that it does not have"),
                "only a candidate seen in text is promoted or withdrawn",
            );
        }
        if *status == ToolCallStatus::Pending && call.is_running {
            findings.broken(
                index,
                format!("call `{id}` waits again although it runs"),
                "a call waits, runs, and ends",
            );
        }
        call.is_running |= *status == ToolCallStatus::InProgress;
        if is_end || (call.is_candidate && *parsing == Some(false)) {
            self.calls.remove(id);
        }
    }

    fn within_composition(&self, index: u64, run: &str, call: &str, findings: &mut Findings) {
        if !self.compositions.contains_key(run) && !self.forgives {
            findings.broken(
                index,
                format!("call `{call}` is part of composition `{run}`, which is not open"),
                "the calls of a composition come between its start and its end",
            );
        }
    }

    fn end_children(&mut self, index: u64, run: &str, findings: &mut Findings) {
        let mut open = Vec::new();
        self.children.retain(|(of, call)| {
            let is_over = of == run;
            if is_over {
                open.push(call.clone());
            }
            !is_over
        });
        for call in open {
            findings.broken(
                index,
                format!("composition `{run}` ends while its call `{call}` has no result"),
                "every call of a composition has a result",
            );
        }
    }

    /// Questions to people outlive a run; nothing else does.
    fn end_of_run(&mut self, index: u64, findings: &mut Findings) {
        let calls = std::mem::take(&mut self.calls);
        for (id, call) in calls {
            let what = match call.is_candidate {
                true => "candidate",
                false => "call",
            };
            left_open(index, what, &id, call.index, findings);
        }
        for (id, since) in std::mem::take(&mut self.searches) {
            left_open(index, "search", &id, since, findings);
        }
        for (id, since) in std::mem::take(&mut self.compositions) {
            left_open(index, "composition", &id, since, findings);
        }
        self.children.clear();
    }

    fn end_of_session(&mut self, index: u64, findings: &mut Findings) {
        self.end_of_run(index, findings);
        for (id, since) in std::mem::take(&mut self.questions) {
            left_open(index, "request", &id, since, findings);
        }
    }
}

fn left_open(index: u64, what: &str, id: &str, since: u64, findings: &mut Findings) {
    findings.broken(
        index,
        format!("{what} `{id}` of record {since} has no end"),
        format!("every {what} ends before what it is part of does"),
    );
}

fn begin(
    open: &mut BTreeMap<String, u64>,
    index: u64,
    what: &str,
    id: &str,
    findings: &mut Findings,
) {
    if let Some(since) = open.insert(id.to_owned(), index) {
        findings.broken(
            index,
            format!("{what} `{id}` begins although it is open since record {since}"),
            format!("every {what} begins once and ends once"),
        );
    }
}

fn end(
    open: &mut BTreeMap<String, u64>,
    index: u64,
    what: &str,
    id: &str,
    forgives: bool,
    findings: &mut Findings,
) {
    if open.remove(id).is_none() && !forgives {
        findings.broken(
            index,
            format!("{what} `{id}` ends although it is not open"),
            format!("every {what} begins once and ends once"),
        );
    }
}

/// Fields that only some updates have.
fn check_fields(index: u64, event: &AgentEvent, findings: &mut Findings) {
    let AgentEvent::ToolCallUpdate {
        tool_call_id: id,
        status,
        error_category,
        duration_ms,
        execution_duration_ms,
        raw_input,
        raw_input_partial,
        ..
    } = event
    else {
        return;
    };
    let mut broken = |what: &str, why: &str| {
        findings.broken(index, format!("call `{id}` {what}"), why);
    };
    let is_end = matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed);
    if !is_end && (duration_ms.is_some() || execution_duration_ms.is_some()) {
        broken(
            "has a duration before it ends",
            "only an end has a duration",
        );
    }
    if *status != ToolCallStatus::Failed && error_category.is_some() {
        broken(
            "has a class of failure although it has not failed",
            "`error_category` goes with `failed`",
        );
    }
    if raw_input.is_some() && raw_input_partial.is_some() {
        broken(
            "has its arguments both read and unread",
            "`raw_input` and `raw_input_partial` exclude each other",
        );
    }
}
