//! Workers that were started by another process.

use std::path::Path;
use std::sync::Arc;

use harn_events::{MutationSessionRecord, WorkerEvent, WorkerLifecycle};
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::carry::Carry;
use super::job::Job;
use super::snapshot;
use super::status::Status;
use super::table::Slot;
use super::worker::Worker;
use crate::ambient::Level;
use crate::callback::Functions;
use crate::policy::{ApprovalPolicy, Permissions};
use crate::runtime::{Ambient, Runtime};
use crate::session::load_session;

/// Tools at hand, for those whose handlers did not survive.
pub(crate) struct AtHand<'a> {
    pub(crate) tools: &'a Value,
    pub(crate) functions: &'a Functions,
}

/// Loads a worker from its file, by its id or by a path. One that is known here stays as it is.
///
/// # Errors
/// There is no file, it cannot be read, or the worker may do more than there is here.
pub(crate) async fn load(
    runtime: &Arc<Runtime>,
    named: &str,
    asking: Option<&str>,
    at_hand: AtHand<'_>,
) -> Result<Arc<Slot>, Thrown> {
    let file = snapshot::read(runtime, named)?;
    let id = text(&file, "id").unwrap_or_default();
    if let Some(known) = runtime.workers.get(&id) {
        return Ok(known);
    }
    let mode = text(&file, "mode").unwrap_or_default();
    let job = Job::restore(&mode, &file["config"], at_hand.functions, at_hand.tools)?;
    let carry = Carry::read(Some(&file["carry_policy"]).filter(|carry| carry.is_object()))?;
    let mut worker = worker(runtime, &file, id, &job, carry)?;
    if worker.carry.persist_state {
        snapshot::check_place(runtime, Path::new(&worker.snapshot_path))?;
    }
    let ambient = ambient(runtime, asking, &mut worker)?;
    if worker.status == Status::Interrupted || worker.transcript.is_null() {
        recall(runtime, &mut worker).await;
    }
    let hearing = worker.hearing_session();
    let hearing = hearing.and_then(|id| runtime.sessions().get_also_unnamed(id));
    let slot = Slot::new(worker, job, ambient, hearing.as_ref());
    runtime.workers.add(Arc::clone(&slot));
    Ok(slot)
}

fn text(file: &Value, key: &str) -> Option<String> {
    let text = file[key].as_str().map(str::to_owned);
    text.filter(|text| !text.is_empty())
}

fn worker(
    runtime: &Runtime,
    file: &Value,
    id: String,
    job: &Job,
    carry: Carry,
) -> Result<Worker, Thrown> {
    let word = text(file, "status").unwrap_or_default();
    let Some(status) = Status::named(&word).filter(|_| !id.is_empty()) else {
        let problem = "worker snapshot parse error: it has no id or no status";
        return Err(Thrown::Runtime(problem.to_owned()));
    };
    let list = |key: &str| file[key].as_array().cloned().unwrap_or_default();
    let history = list("history").into_iter();
    let audit: MutationSessionRecord =
        serde_json::from_value(file["audit"].clone()).unwrap_or_default();
    let session_id = match job {
        Job::Stage(stage) => format!("worker_session_{id}_{}", stage.node_id()),
        Job::SubAgent(agent) => {
            let of_result = text(&file["latest_payload"], "session_id");
            let known = of_result.or_else(|| text(&file["transcript"], "id"));
            let known = known.or_else(|| text(&file["config"]["inherited"], "session_id"));
            let known = known.or_else(|| agent.session_id());
            known.unwrap_or_else(|| format!("sub_agent_session_{}", runtime.new_id()))
        }
    };
    Ok(Worker {
        name: text(file, "name").unwrap_or_default(),
        task: text(file, "task").unwrap_or_default(),
        mode: job.mode(),
        // Whoever ran it is gone.
        status: match status {
            Status::Running => Status::Interrupted,
            other => other,
        },
        created_at: text(file, "created_at").unwrap_or_default(),
        started_at: text(file, "started_at"),
        finished_at: text(file, "finished_at"),
        awaiting_started_at: text(file, "awaiting_started_at"),
        history: history
            .filter_map(|task| task.as_str().map(str::to_owned))
            .collect(),
        request: file["request"].clone(),
        result: file["latest_payload"].clone(),
        error: text(file, "latest_error"),
        artifacts: list("artifacts"),
        transcript: file["transcript"].clone(),
        parent_worker_id: text(file, "parent_worker_id"),
        parent_stage_id: text(file, "parent_stage_id"),
        child_run_id: text(file, "child_run_id"),
        child_run_path: text(file, "child_run_path"),
        execution: file["execution"].clone(),
        snapshot_path: text(file, "snapshot_path").unwrap_or_else(|| snapshot::path(runtime, &id)),
        session_id,
        parent_session_id: text(&file["config"]["inherited"], "parent_session_id"),
        config: file["config"].clone(),
        carry,
        policy: None,
        suspension: file["config"]["suspension"].clone(),
        told: told_until(status),
        audit,
        id,
    })
}

/// What the events of a worker have told when it had that status.
fn told_until(status: Status) -> WorkerLifecycle {
    let mut told = WorkerLifecycle::default();
    for event in [WorkerEvent::WorkerSpawned, status.event()] {
        // Both are legal for a worker that was never told of.
        let _is_legal = told.apply(event);
    }
    told
}

/// What holds around a worker: what holds where it is taken up again, and what held where it
/// was started, as far as that was kept. A function that did not survive allows nothing.
fn ambient(
    runtime: &Runtime,
    asking: Option<&str>,
    worker: &mut Worker,
) -> Result<Ambient, Thrown> {
    let mut ambient = runtime.ambient_in(asking);
    let inherited = &worker.config["inherited"];
    let outer: Vec<Level> = serde_json::from_value(inherited["outer"].clone()).unwrap_or_default();
    ambient.outer.extend(outer);
    let approval = worker.audit.approval_policy.clone().map(ApprovalPolicy);
    let narrowed = ambient.narrow(worker.carry.policy.as_ref(), approval.as_ref());
    narrowed.map_err(|error| Thrown::Runtime(format!("resume_agent: {error}")))?;
    for level in inherited["permissions"].as_array().into_iter().flatten() {
        let read = Permissions::read("permissions", level, &Functions::default())?;
        ambient.permissions.extend(read);
    }
    let depth = inherited["depth"].as_u64().unwrap_or(0);
    ambient.depth = ambient.depth.max(depth);
    ambient.audit = Some(worker.audit.clone());
    ambient.worker_id = Some(worker.id.clone());
    worker.policy.clone_from(&ambient.policy);
    Ok(ambient)
}

/// What the journal of its session knows of a worker whose file was written before the end.
async fn recall(runtime: &Runtime, worker: &mut Worker) {
    let Some(log) = runtime.keeper().and_then(|keeper| keeper.log()) else {
        return;
    };
    let Ok(state) = load_session(&**log, &worker.session_id, None).await else {
        return;
    };
    if !state.messages.is_empty() {
        let mut new_id = || runtime.new_id();
        worker.transcript = state.transcript(&worker.session_id, &mut new_id);
    }
}
