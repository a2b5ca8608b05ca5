//! Workers that pause, and how they go on.

use std::sync::Arc;
use std::time::Duration;

use harn_events::WorkerEvent;
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::cycle;
use super::status::Status;
use super::table::{Inner, Slot};
use super::transition::Transition;
use super::worker::Worker;
use crate::moment::rfc3339;
use crate::runtime::Runtime;

/// What a model is told that goes on without anybody saying anything.
const GO_ON: &str = "You are resumed. Go on with your task.";

/// Lets a worker go on that pauses; `false` if it does not.
///
/// # Errors
/// There is nowhere it could run.
pub(crate) async fn resume(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    input: Option<String>,
) -> Result<bool, Thrown> {
    let now = rfc3339(runtime.now_ms());
    let is_waiting = slot.gate.is_waiting();
    let transition = Transition {
        event: WorkerEvent::WorkerResumed,
        guard: |inner: &Inner| inner.worker.status == Status::Suspended,
        change: |worker: &mut Worker| {
            let started = worker.started_at.clone();
            worker.begin_cycle(None, now.clone());
            if is_waiting {
                worker.started_at = started;
            }
        },
    };
    if !transition.make(runtime, slot, |_| {}).await {
        return Ok(false);
    }
    // A loop that stopped between two turns goes on; one that has ended is begun again.
    if !slot.gate.open(input.clone()) {
        let input = input.unwrap_or_else(|| GO_ON.to_owned());
        cycle::start(runtime, slot, Some(input))?;
    }
    Ok(true)
}

/// Sees to it that a pause with a time limit ends.
pub(crate) fn limit(runtime: &Arc<Runtime>, slot: &Arc<Slot>, cycle: u64, suspension: &Value) {
    let timeout = suspension["conditions"]["timeout"].clone();
    let Some(minutes) = timeout["duration_minutes"].as_f64() else {
        return;
    };
    let Ok(time) = Duration::try_from_secs_f64(minutes * 60.0) else {
        return;
    };
    let (here, slot) = (Arc::downgrade(runtime), Arc::downgrade(slot));
    let waiting = async move {
        // Not through the runtime, which need not outlive its program for this.
        tokio::time::sleep(time).await;
        if let (Some(runtime), Some(slot)) = (here.upgrade(), slot.upgrade()) {
            end(&runtime, &slot, cycle, minutes, &timeout).await;
        }
    };
    if let Err(thrown) = runtime.spawn(Box::pin(waiting)) {
        runtime.warn("agent.workers", &crate::registry::told(&thrown));
    }
}

/// Nobody has resumed a worker in time.
async fn end(runtime: &Arc<Runtime>, slot: &Arc<Slot>, cycle: u64, minutes: f64, timeout: &Value) {
    let is_same =
        slot.read(|inner| inner.cycle == cycle && inner.worker.status == Status::Suspended);
    if !is_same {
        return;
    }
    let late = format!("nobody has resumed the worker within {minutes} minutes");
    match timeout["on_timeout"].as_str() {
        Some("fail") => cycle::fail(runtime, slot, cycle, Thrown::Runtime(late)).await,
        action => {
            let given = timeout["input"].as_str().map(str::to_owned);
            let input = given.filter(|_| action == Some("resume_with_input"));
            let text = || format!("You are resumed: {late}. Sum up where you are and go on.");
            let resumed = resume(runtime, slot, Some(input.unwrap_or_else(text))).await;
            if let Err(thrown) = resumed {
                cycle::fail(runtime, slot, cycle, thrown).await;
            }
        }
    }
}
