//! What is known about a worker.

use harn_events::{MutationSessionRecord, WorkerEvent, WorkerLifecycle};
use serde_json::{Value, json};

use super::carry::Carry;
use super::status::Status;
use crate::policy::CapabilityPolicy;

/// What is known about a worker: everything that its handle and its file tell.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What it does now, or did last.
    pub(crate) task: String,
    /// `stage` or `sub_agent`.
    pub(crate) mode: &'static str,
    pub(crate) status: Status,
    pub(crate) created_at: String,
    pub(crate) started_at: Option<String>,
    pub(crate) finished_at: Option<String>,
    pub(crate) awaiting_started_at: Option<String>,
    /// The tasks it was given, in order.
    pub(crate) history: Vec<String>,
    /// What it was asked for first.
    pub(crate) request: Value,
    /// What came of the last cycle.
    pub(crate) result: Value,
    /// What went wrong in it.
    pub(crate) error: Option<String>,
    /// What it was given and what it has made.
    pub(crate) artifacts: Vec<Value>,
    /// What was said in its last cycle.
    pub(crate) transcript: Value,
    pub(crate) parent_worker_id: Option<String>,
    pub(crate) parent_stage_id: Option<String>,
    pub(crate) child_run_id: Option<String>,
    pub(crate) child_run_path: Option<String>,
    pub(crate) execution: Value,
    /// Its file, whether or not it is written.
    pub(crate) snapshot_path: String,
    pub(crate) audit: MutationSessionRecord,
    /// The session that it works in.
    pub(crate) session_id: String,
    /// The session whose loop has started it.
    pub(crate) parent_session_id: Option<String>,
    /// As it was asked for; functions are null.
    pub(crate) config: Value,
    pub(crate) carry: Carry,
    /// What it may do at most.
    pub(crate) policy: Option<CapabilityPolicy>,
    /// Why it pauses, if it does.
    pub(crate) suspension: Value,
    /// What its events have told so far.
    pub(crate) told: WorkerLifecycle,
}

impl Worker {
    /// As programs see it: a handle that says how the worker is.
    pub(crate) fn summary(&self) -> Value {
        let mut summary = self.metadata();
        let more = json!({
            "_type": "agent_handle",
            "id": self.id,
            "name": self.name,
            "status": self.status.word(),
            "history": self.history,
            "result": self.result,
        });
        extend(&mut summary, more);
        if let Some(fields) = summary.as_object_mut() {
            fields.remove("suspension");
        }
        summary
    }

    /// What its events tell about it.
    pub(crate) fn metadata(&self) -> Value {
        let mut metadata = json!({
            "task": self.task,
            "mode": self.mode,
            "request": self.request,
            "provenance": self.provenance(),
            "created_at": self.created_at,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "awaiting_started_at": self.awaiting_started_at,
            "artifact_count": self.artifacts.len(),
            "has_transcript": !self.transcript.is_null(),
            "parent_worker_id": self.parent_worker_id,
            "parent_stage_id": self.parent_stage_id,
            "child_run_id": self.child_run_id,
            "child_run_path": self.child_run_path,
            "execution": self.execution,
            "snapshot_path": self.snapshot_path,
            "audit": self.audit,
            "error": self.error,
        });
        if !self.suspension.is_null() {
            metadata["suspension"] = self.suspension.clone();
        }
        metadata
    }

    fn provenance(&self) -> Value {
        json!({
            "worker_id": self.id,
            "worker_name": self.name,
            "mode": self.mode,
            "parent_worker_id": self.parent_worker_id,
            "parent_stage_id": self.parent_stage_id,
            "session_id": self.session_id,
            "parent_session_id": self.parent_session_id,
            "snapshot_path": self.snapshot_path,
            "run_id": self.child_run_id,
            "run_path": self.child_run_path,
        })
    }

    /// As its file has it.
    pub(crate) fn snapshot(&self) -> Value {
        json!({
            "_type": "worker_snapshot",
            "id": self.id,
            "name": self.name,
            "task": self.task,
            "status": self.status.word(),
            "mode": self.mode,
            "created_at": self.created_at,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "awaiting_started_at": self.awaiting_started_at,
            "history": self.history,
            "config": self.config,
            "request": self.request,
            "latest_payload": self.result,
            "latest_error": self.error,
            "transcript": self.transcript,
            "artifacts": self.artifacts,
            "parent_worker_id": self.parent_worker_id,
            "parent_stage_id": self.parent_stage_id,
            "child_run_id": self.child_run_id,
            "child_run_path": self.child_run_path,
            "carry_policy": self.carry.to_value(self.policy.as_ref()),
            "execution": self.execution,
            "snapshot_path": self.snapshot_path,
            "audit": self.audit,
        })
    }

    /// The session that hears of it. It was fixed when the worker was started.
    pub(crate) fn hearing_session(&self) -> Option<&str> {
        let named = self.audit.parent_session_id.as_deref();
        let named = named.filter(|id| !id.is_empty());
        named.or(self.parent_session_id.as_deref())
    }

    /// Whether a transition is told, and follows what was told before. A worker that is given
    /// another task after its end is started again; its end is told once.
    pub(crate) fn tells(&self, event: WorkerEvent) -> Option<WorkerLifecycle> {
        let mut told = self.told;
        let status = told.status();
        let has_ended = status.is_some_and(harn_events::WorkerStatus::is_terminal);
        if has_ended {
            match event {
                WorkerEvent::WorkerSpawned => told = WorkerLifecycle::default(),
                _ => return None,
            }
        }
        told.apply(event).is_ok().then_some(told)
    }

    /// A new cycle begins, or another task is taken up.
    pub(crate) fn begin_cycle(&mut self, task: Option<&str>, now: String) {
        if let Some(task) = task {
            task.clone_into(&mut self.task);
            self.history.push(task.to_owned());
            self.result = Value::Null;
            self.error = None;
        }
        self.status = Status::Running;
        self.suspension = Value::Null;
        self.started_at = Some(now);
        self.finished_at = None;
        self.awaiting_started_at = None;
    }
}

fn extend(value: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
        fields.extend(more);
    }
}
