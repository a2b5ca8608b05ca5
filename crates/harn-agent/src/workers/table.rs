//! All workers of a program.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use harn_llm::desk::Thrown;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::carried::Opened;
use super::gate::Gate;
use super::job::Job;
use super::places::WorkerPlaces;
use super::worker::Worker;
use crate::runtime::Ambient;
use crate::session::Session;

/// All workers of a program, by id.
pub(crate) struct Workers {
    places: Mutex<WorkerPlaces>,
    slots: Mutex<BTreeMap<String, Arc<Slot>>>,
    /// The sessions that workers were started in, and those they work in now. Functions of a
    /// program know the first.
    moved: Mutex<BTreeMap<String, String>>,
}

/// A worker and what moves it.
pub(crate) struct Slot {
    inner: Mutex<Inner>,
    /// Held while a transition is written down and told, so that events have the order of what
    /// they tell. Nothing waits while it is held.
    pub(super) telling: Mutex<()>,
    /// Rung after every transition.
    pub(super) changed: Notify,
    /// Where its loop can be stopped between two turns.
    pub(crate) gate: Arc<Gate>,
}

/// What is known about a worker in this process.
pub(crate) struct Inner {
    pub(crate) worker: Worker,
    /// What it does in each cycle.
    pub(crate) job: Job,
    /// What holds around it: never less than where it was started.
    pub(crate) ambient: Ambient,
    /// Its cycles in this process, and whatever else makes an earlier cycle meaningless.
    pub(crate) cycle: u64,
    /// Ends the cycle that runs.
    pub(crate) stop: Option<Stop>,
    /// The session of the first cycle, which begins with what its parent had said when it
    /// asked for the worker.
    pub(crate) opened: Option<Opened>,
    /// What the last cycle threw.
    pub(crate) thrown: Option<Thrown>,
    /// Transitions whose closures have not been called yet.
    pub(super) delivering: usize,
    /// The session that hears of it, as it was when the worker was started. A later session of
    /// the same name is another one.
    pub(super) hearing: Option<Weak<Session>>,
}

/// Ends a cycle.
pub(crate) struct Stop {
    /// Sent when the cycle is to end.
    pub(crate) wanted: oneshot::Sender<()>,
    /// Resolves when it has.
    pub(crate) ended: oneshot::Receiver<()>,
}

impl Workers {
    /// No workers.
    pub(crate) fn new(places: WorkerPlaces) -> Self {
        Self {
            places: Mutex::new(places),
            slots: Mutex::default(),
            moved: Mutex::default(),
        }
    }

    /// A worker works in another session from now on.
    pub(crate) fn move_session(&self, from: &str, to: &str) {
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        match moved.values_mut().find(|now| *now == from) {
            Some(now) => to.clone_into(now),
            None => drop(moved.insert(from.to_owned(), to.to_owned())),
        }
    }

    /// The session that a function speaks of.
    pub(crate) fn session_now(&self, id: &str) -> String {
        let moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        moved.get(id).map_or(id, String::as_str).to_owned()
    }

    /// Where workers are kept and work.
    pub(crate) fn places(&self) -> WorkerPlaces {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.clone()
    }

    /// They are kept and work there from now on.
    pub(crate) fn set_places(&self, places: WorkerPlaces) {
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a worker.
    pub(crate) fn add(&self, slot: Arc<Slot>) {
        let id = slot.read(|inner| inner.worker.id.clone());
        self.slots().insert(id, slot);
    }

    /// Forgets a worker that could not be started.
    pub(crate) fn remove(&self, id: &str) {
        self.slots().remove(id);
    }

    /// A worker.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Slot>> {
        self.slots().get(id).cloned()
    }

    /// All of them, by id.
    pub(crate) fn all(&self) -> Vec<Arc<Slot>> {
        self.slots().values().cloned().collect()
    }

    /// The workers that a worker has started.
    pub(crate) fn children_of(&self, id: &str) -> Vec<Arc<Slot>> {
        let is_child = |slot: &Arc<Slot>| {
            slot.read(|inner| inner.worker.parent_worker_id.as_deref() == Some(id))
        };
        self.all().into_iter().filter(is_child).collect()
    }
}

impl Slot {
    pub(crate) fn new(
        worker: Worker,
        job: Job,
        ambient: Ambient,
        hearing: Option<&Arc<Session>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                worker,
                job,
                ambient,
                cycle: 0,
                stop: None,
                opened: None,
                thrown: None,
                delivering: 0,
                hearing: hearing.map(Arc::downgrade),
            }),
            telling: Mutex::default(),
            changed: Notify::new(),
            gate: Arc::new(Gate::default()),
        })
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the worker.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Inner) -> T) -> T {
        look(&self.inner())
    }

    /// Changes something about the worker that is no transition.
    pub(crate) fn adjust<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        change(&mut self.inner())
    }

    /// The worker as programs see it.
    pub(crate) fn summary(&self) -> Value {
        self.read(|inner| inner.worker.summary())
    }
}
