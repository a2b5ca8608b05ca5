//! From one status of a worker to the next.
//!
//! ```text
//! hooks ─► record, file and event together ─► closures of the session ─► whoever waits
//! ```

use std::sync::{Arc, PoisonError};

use harn_events::{AgentEvent, WorkerEvent};
use serde_json::{Value, json};

use super::snapshot;
use super::table::{Inner, Slot};
use super::worker::Worker;
use crate::registry::told;
use crate::runtime::Runtime;
use crate::session::Session;
use crate::tool_hooks::HookEvent;

/// A transition of a worker.
pub(crate) struct Transition<Guard, Change> {
    /// What is told.
    pub(crate) event: WorkerEvent,
    /// Whether it is still meant. It is asked again after the hooks, which take time.
    pub(crate) guard: Guard,
    /// What it does to the record.
    pub(crate) change: Change,
}

impl<Guard, Change> Transition<Guard, Change>
where
    Guard: Fn(&Inner) -> bool + Send + Sync,
    Change: Fn(&mut Worker) + Send + Sync,
{
    /// Makes the transition; says whether it was still meant. `also` changes what is known
    /// besides the record.
    pub(crate) async fn make(
        self,
        runtime: &Arc<Runtime>,
        slot: &Arc<Slot>,
        also: impl FnOnce(&mut Inner) + Send,
    ) -> bool {
        let preview = slot.read(|inner| {
            let mut worker = inner.worker.clone();
            (self.change)(&mut worker);
            let is_told = inner.worker.tells(self.event).is_some();
            (self.guard)(inner).then_some((is_told, worker))
        });
        let Some((is_told, preview)) = preview else {
            return false;
        };
        if is_told {
            call_hooks(runtime, self.event, &preview).await;
        }
        drop(preview);
        let Some(delivery) = self.record(runtime, slot, also) else {
            return false;
        };
        if let Some(session_id) = &delivery.session_id {
            runtime.bus.deliver_to_subscribers(session_id).await;
        }
        true
    }

    /// Writes the transition down and tells it, in one go.
    fn record<'a>(
        &self,
        runtime: &Runtime,
        slot: &'a Slot,
        also: impl FnOnce(&mut Inner),
    ) -> Option<Delivery<'a>> {
        let _telling = slot.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inner = slot.inner();
        if !(self.guard)(&inner) {
            return None;
        }
        let told = inner.worker.tells(self.event);
        (self.change)(&mut inner.worker);
        also(&mut inner);
        if let Some(told) = told {
            inner.worker.told = told;
        }
        let event = told.map(|_| event(&inner.worker, self.event));
        // Whoever sees the status finds it in the file.
        if let Err(error) = snapshot::keep(runtime, &inner.worker) {
            runtime.warn("agent.workers", &error);
        }
        inner.delivering += 1;
        let session = hearing(runtime, &inner);
        drop(inner);
        let session_id = event.and_then(|event| tell(runtime, session, &event));
        Some(Delivery { slot, session_id })
    }
}

/// Closures are being called. Whoever waits for the worker waits for them as well.
struct Delivery<'a> {
    slot: &'a Slot,
    session_id: Option<String>,
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        self.slot.inner().delivering -= 1;
        self.slot.changed.notify_waiters();
    }
}

/// The session that hears of a worker, if it is still there.
enum Hearing {
    Session(Arc<Session>),
    /// Not a session that this program knows, but one that events can go to.
    Named(String),
    Nobody,
}

fn hearing(runtime: &Runtime, inner: &Inner) -> Hearing {
    match (&inner.hearing, inner.worker.hearing_session()) {
        (Some(session), _) => match session.upgrade() {
            Some(session) if is_open(runtime, &session) => Hearing::Session(session),
            _ => Hearing::Nobody,
        },
        (None, Some(id)) if runtime.bus.is_session_open(id) => Hearing::Named(id.to_owned()),
        (None, _) => Hearing::Nobody,
    }
}

fn is_open(runtime: &Runtime, session: &Arc<Session>) -> bool {
    let known = runtime.sessions().get_also_unnamed(session.id());
    known.is_some_and(|known| Arc::ptr_eq(&known, session))
}

/// Tells a session; gives its id if there is one.
fn tell(runtime: &Runtime, hearing: Hearing, event: &AgentEvent) -> Option<String> {
    match hearing {
        Hearing::Session(session) => {
            session.emit(event);
            Some(session.id().to_owned())
        }
        Hearing::Named(id) => {
            runtime.bus.emit(event);
            Some(id)
        }
        Hearing::Nobody => {
            runtime.bus.count_unattributed("worker_update");
            None
        }
    }
}

fn event(worker: &Worker, event: WorkerEvent) -> AgentEvent {
    AgentEvent::WorkerUpdate {
        session_id: worker.hearing_session().unwrap_or_default().to_owned(),
        worker_id: worker.id.clone(),
        worker_name: worker.name.clone(),
        worker_task: worker.task.clone(),
        worker_mode: worker.mode.to_owned(),
        event,
        status: event.status().as_str().to_owned(),
        metadata: worker.metadata(),
        audit: Some(json!(worker.audit)),
    }
}

/// Hooks come first. What they throw is told to the operator: a worker is what it is.
async fn call_hooks(runtime: &Runtime, event: WorkerEvent, worker: &Worker) {
    let Some(hook_event) = HookEvent::named(event.as_str()) else {
        return;
    };
    let payload = hook_payload(event, worker);
    let chain = runtime.hook_chain();
    if let Err(thrown) = chain.worker(hook_event, &payload).await {
        runtime.warn("agent.hooks", &format!("{event}: {}", told(&thrown)));
    }
}

fn hook_payload(event: WorkerEvent, worker: &Worker) -> Value {
    json!({
        "event": event.as_str(),
        "worker": {
            "id": worker.id,
            "name": worker.name,
            "task": worker.task,
            "mode": worker.mode,
            "status": event.status().as_str(),
            "metadata": worker.metadata(),
        },
    })
}
