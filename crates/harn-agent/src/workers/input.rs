//! Another cycle of a worker.

use std::sync::Arc;

use harn_events::WorkerEvent;
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::artifacts;
use super::awaited;
use super::cycle;
use super::status::Status;
use super::suspension;
use super::table::{Inner, Slot};
use super::transition::Transition;
use super::worker::Worker;
use crate::moment::rfc3339;
use crate::runtime::Runtime;

/// Gives a worker that does nothing another task.
///
/// # Errors
/// It works, or pauses.
pub(crate) async fn send(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    task: &str,
) -> Result<(), Thrown> {
    let refuse = |inner: &Inner| {
        let id = &inner.worker.id;
        match inner.worker.status {
            Status::Running => Some(format!("send_input: worker {id} is still running")),
            Status::Suspended => Some(format!(
                "send_input: worker {id} is suspended; use resume_agent"
            )),
            _ => None,
        }
    };
    begin(runtime, slot, task, WorkerEvent::WorkerSpawned, refuse).await
}

/// Gives a worker that waits for it another task, or lets one go on that pauses until a trigger.
///
/// # Errors
/// It does not wait, or for another trigger.
pub(crate) async fn trigger(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    payload: &Value,
    task: &str,
) -> Result<(), Thrown> {
    let awaited = slot.read(|inner| {
        let is_suspended = inner.worker.status == Status::Suspended;
        let condition = &inner.worker.suspension["conditions"]["trigger"];
        (is_suspended && !condition.is_null()).then(|| condition.clone())
    });
    if let Some(condition) = awaited {
        if !awaited::is_trigger(&condition, payload) {
            let id = slot.read(|inner| inner.worker.id.clone());
            return Err(Thrown::Runtime(format!(
                "worker_trigger: worker {id} is suspended until another trigger: {condition}"
            )));
        }
        suspension::resume(runtime, slot, Some(task.to_owned())).await?;
        return Ok(());
    }
    let refuse = |inner: &Inner| {
        let id = &inner.worker.id;
        let problem = match inner.worker.status {
            _ if !inner.worker.carry.retriggerable => "is not retriggerable".to_owned(),
            Status::Awaiting => return None,
            Status::Running => "is still running".to_owned(),
            status => format!("is not awaiting (status={})", status.word()),
        };
        Some(format!("worker_trigger: worker {id} {problem}"))
    };
    begin(runtime, slot, task, WorkerEvent::WorkerProgressed, refuse).await
}

async fn begin(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    task: &str,
    event: WorkerEvent,
    refuse: impl Fn(&Inner) -> Option<String> + Send + Sync,
) -> Result<(), Thrown> {
    if let Some(problem) = slot.read(&refuse) {
        return Err(Thrown::Runtime(problem));
    }
    let now = rfc3339(runtime.now_ms());
    let transition = Transition {
        event,
        guard: |inner: &Inner| refuse(inner).is_none(),
        change: |worker: &mut Worker| {
            worker.begin_cycle(Some(task), now.clone());
            worker.artifacts = carried(runtime, worker);
        },
    };
    if transition.make(runtime, slot, |_| {}).await {
        return cycle::start(runtime, slot, None);
    }
    let problem = slot.read(&refuse);
    Err(Thrown::Runtime(problem.unwrap_or_default()))
}

/// The artifacts that the next cycle is given.
fn carried(runtime: &Runtime, worker: &Worker) -> Vec<serde_json::Value> {
    match worker.carry.keeps_artifacts {
        false => Vec::new(),
        true => artifacts::select(runtime, &worker.artifacts, &worker.carry.context_policy),
    }
}
