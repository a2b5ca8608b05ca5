//! Where the loop of a worker can be stopped between two turns.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use harn_events::WorkerEvent;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::status::Status;
use super::table::Slot;
use super::transition::Transition;
use crate::callback::BoxFuture;
use crate::run::Pause;
use crate::runtime::Runtime;

/// Whether a loop is to stop, or has.
#[derive(Default)]
pub(crate) struct Gate(Mutex<State>);

#[derive(Default)]
enum State {
    /// It goes on.
    #[default]
    Open,
    /// It is to stop before its next turn, for this reason.
    Wanted(Value),
    /// It has stopped. What is sent is told to the model.
    Waiting(oneshot::Sender<Option<String>>),
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the loop to stop. A loop that has stopped stays as it is.
    pub(crate) fn want(&self, reason: Value) {
        let mut state = self.state();
        if !matches!(*state, State::Waiting(_)) {
            *state = State::Wanted(reason);
        }
    }

    /// Whether the loop has stopped here.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(*self.state(), State::Waiting(_))
    }

    /// Lets the loop go on and tells it something; `false` if none has stopped here.
    pub(crate) fn open(&self, input: Option<String>) -> bool {
        match std::mem::take(&mut *self.state()) {
            State::Waiting(sender) => sender.send(input).is_ok(),
            State::Open | State::Wanted(_) => false,
        }
    }

    /// Forgets whatever was wanted of a loop that is gone.
    pub(crate) fn clear(&self) {
        *self.state() = State::Open;
    }

    fn stop(&self) -> Option<(Value, oneshot::Receiver<Option<String>>)> {
        let mut state = self.state();
        let State::Wanted(reason) = &mut *state else {
            return None;
        };
        let reason = reason.take();
        let (sender, receiver) = oneshot::channel();
        *state = State::Waiting(sender);
        Some((reason, receiver))
    }
}

/// Lets a worker pause.
pub(crate) struct WorkerPause {
    pub(crate) runtime: Weak<Runtime>,
    pub(crate) slot: Weak<Slot>,
    pub(crate) cycle: u64,
}

impl Pause for WorkerPause {
    fn pass(&self, iterations: usize) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let (runtime, slot) = (self.runtime.upgrade()?, self.slot.upgrade()?);
            let (reason, resumed) = slot.gate.stop()?;
            let id = slot.read(|inner| inner.worker.id.clone());
            let suspension = json!({
                "handle": id,
                "reason": reason,
                "initiator": "caller",
                "conditions": null,
                "iterations_completed": iterations,
            });
            remember(&runtime, &slot);
            suspend(&runtime, &slot, self.cycle, suspension).await;
            resumed.await.ok().flatten()
        })
    }
}

/// A worker that pauses may be taken up again by another process, which has to know what was
/// said.
fn remember(runtime: &Runtime, slot: &Slot) {
    let id = slot.read(|inner| inner.worker.session_id.clone());
    let mut new_id = || runtime.new_id();
    if let Some(session) = runtime.session(&id) {
        let transcript = session.transcript(&mut new_id);
        slot.adjust(|inner| inner.worker.transcript = transcript);
    }
}

/// A worker pauses from now on.
pub(crate) async fn suspend(
    runtime: &Arc<Runtime>,
    slot: &Arc<Slot>,
    cycle: u64,
    suspension: Value,
) -> bool {
    let transition = Transition {
        event: WorkerEvent::WorkerSuspended,
        guard: |inner: &super::table::Inner| {
            inner.cycle == cycle && inner.worker.status == Status::Running
        },
        change: |worker: &mut super::worker::Worker| {
            worker.status = Status::Suspended;
            worker.suspension = suspension.clone();
        },
    };
    transition.make(runtime, slot, |_| {}).await
}
