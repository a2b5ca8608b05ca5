//! Workers that pause, and how they go on.

use std::sync::Arc;
use std::time::Duration;

use harn_events::WorkerEvent;
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::awaited::{AwaitedEvent, Listening};
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

/// Sees to it that a pause ends when its time is over, or when the event happens that the worker
/// waits for.
pub(crate) fn watch(runtime: &Arc<Runtime>, slot: &Arc<Slot>, cycle: u64, suspension: &Value) {
    let conditions = &suspension["conditions"];
    let limit = Limit::read(&conditions["timeout"]);
    let event = AwaitedEvent::read(&conditions["on_event"]);
    if limit.is_none() && event.is_none() {
        return;
    }
    let sessions = slot.read(|inner| {
        let caller = inner.worker.hearing_session().map(str::to_owned);
        [Some(inner.worker.session_id.clone()), caller]
    });
    let sessions = sessions.into_iter().flatten().collect();
    let event = event.map(|event| event.listen(runtime, sessions));
    let (here, slot) = (Arc::downgrade(runtime), Arc::downgrade(slot));
    let waiting = async move {
        let ended = first(limit.as_ref(), event).await;
        if let (Some(runtime), Some(slot)) = (here.upgrade(), slot.upgrade()) {
            end(&runtime, &slot, cycle, ended).await;
        }
    };
    if let Err(thrown) = runtime.spawn(Box::pin(waiting)) {
        runtime.warn("agent.workers", &crate::registry::told(&thrown));
    }
}

/// How long a worker waits, and what then.
struct Limit {
    minutes: f64,
    time: Duration,
    timeout: Value,
}

impl Limit {
    fn read(timeout: &Value) -> Option<Self> {
        let minutes = timeout["duration_minutes"].as_f64()?;
        Some(Self {
            minutes,
            time: Duration::try_from_secs_f64(minutes * 60.0).ok()?,
            timeout: timeout.clone(),
        })
    }
}

/// Why a pause ends.
enum Ended<'a> {
    Late(&'a Limit),
    /// The event has happened; what the model is told.
    Happened(String),
}

async fn first(limit: Option<&Limit>, event: Option<Listening>) -> Ended<'_> {
    let late = async {
        match limit {
            Some(limit) => {
                // Not through the runtime, which need not outlive its program for this.
                tokio::time::sleep(limit.time).await;
                limit
            }
            None => std::future::pending().await,
        }
    };
    let happened = async {
        match event {
            Some(mut event) => event.heard().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        told = happened => Ended::Happened(told),
        limit = late => Ended::Late(limit),
    }
}

/// The pause ends, unless somebody has ended it already.
async fn end(runtime: &Arc<Runtime>, slot: &Arc<Slot>, cycle: u64, ended: Ended<'_>) {
    let is_same =
        slot.read(|inner| inner.cycle == cycle && inner.worker.status == Status::Suspended);
    if !is_same {
        return;
    }
    let input = match ended {
        Ended::Happened(told) => told,
        Ended::Late(Limit {
            minutes, timeout, ..
        }) => {
            let late = format!("nobody has resumed the worker within {minutes} minutes");
            let action = timeout["on_timeout"].as_str();
            if action == Some("fail") {
                return cycle::fail(runtime, slot, cycle, Thrown::Runtime(late)).await;
            }
            let given = timeout["input"].as_str().map(str::to_owned);
            let given = given.filter(|_| action == Some("resume_with_input"));
            given.unwrap_or_else(|| {
                format!("You are resumed: {late}. Sum up where you are and go on.")
            })
        }
    };
    if let Err(thrown) = resume(runtime, slot, Some(input)).await {
        cycle::fail(runtime, slot, cycle, thrown).await;
    }
}
