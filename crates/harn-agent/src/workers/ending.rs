//! Waiting for workers, and stopping them.

use std::sync::Arc;

use harn_events::WorkerEvent;
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::status::Status;
use super::table::{Inner, Slot, Stop};
use super::transition::Transition;
use super::worker::Worker;
use crate::callback::BoxFuture;
use crate::moment::rfc3339;
use crate::runtime::Runtime;

/// What a worker says that somebody has stopped.
const CANCELLED: &str = "worker cancelled";

/// Waits until a worker neither works nor waits for a task; gives its summary.
///
/// # Errors
/// What the worker failed with.
pub(crate) async fn wait(
    runtime: &Runtime,
    slot: &Slot,
    asking: Option<&str>,
) -> Result<Value, Thrown> {
    loop {
        // Made before looking, so that nothing is missed in between.
        let changed = slot.changed.notified();
        let outcome = slot.read(|inner| {
            let is_told = inner.delivering == 0 || is_listening(runtime, inner, asking);
            let is_over = !inner.worker.status.is_waited_for() && is_told;
            is_over.then(|| outcome(inner))
        });
        match outcome {
            Some(outcome) => return outcome,
            None => changed.await,
        }
    }
}

/// Whether whoever waits may be one of the closures that are being told, which would wait for
/// itself.
fn is_listening(runtime: &Runtime, inner: &Inner, asking: Option<&str>) -> bool {
    let Some(hearing) = inner.worker.hearing_session() else {
        return false;
    };
    let sessions = runtime.sessions();
    let mut at = asking.map(str::to_owned);
    let mut steps = 0;
    while let Some(id) = at {
        if id == hearing {
            return true;
        }
        steps += 1;
        let session = sessions.get_also_unnamed(&id).filter(|_| steps < 64);
        at = session.and_then(|session| session.read(|state| state.parent_id.clone()));
    }
    false
}

fn outcome(inner: &Inner) -> Result<Value, Thrown> {
    if inner.worker.status != Status::Failed {
        return Ok(inner.worker.summary());
    }
    let error = || Thrown::Runtime(inner.worker.error.clone().unwrap_or_default());
    Err(inner.thrown.clone().unwrap_or_else(error))
}

/// Stops a worker and the workers it has started. Gives its summary when nothing of it runs any
/// more.
pub(crate) fn close<'a>(runtime: &'a Arc<Runtime>, slot: &'a Arc<Slot>) -> BoxFuture<'a, Value> {
    Box::pin(async move {
        let now = rfc3339(runtime.now_ms());
        let transition = Transition {
            event: WorkerEvent::WorkerCancelled,
            guard: |inner: &Inner| inner.worker.status != Status::Cancelled,
            change: |worker: &mut Worker| {
                worker.status = Status::Cancelled;
                worker.suspension = Value::Null;
                worker.error = Some(CANCELLED.to_owned());
                worker.finished_at = Some(now.clone());
            },
        };
        let mut ended = None;
        let taken = |inner: &mut Inner| {
            // What its cycle would say does not count any more.
            inner.cycle += 1;
            inner.thrown = None;
            inner.opened = None;
            // It is told now: whoever closes may be a part of what is closed, and be gone before
            // it gets any further.
            ended = inner.stop.take().map(|Stop { wanted, ended }| {
                let _it_has_ended_by_itself = wanted.send(());
                ended
            });
        };
        transition.make(runtime, slot, taken).await;
        slot.gate.clear();
        let id = slot.read(|inner| inner.worker.id.clone());
        for child in runtime.workers.children_of(&id) {
            let is_over = child.read(|inner| {
                matches!(
                    inner.worker.status,
                    Status::Completed | Status::Failed | Status::Cancelled
                )
            });
            if !is_over {
                close(runtime, &child).await;
            }
        }
        if let Some(ended) = ended {
            let _nothing_of_it_is_left = ended.await;
        }
        slot.summary()
    })
}
