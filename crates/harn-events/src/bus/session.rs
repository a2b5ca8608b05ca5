//! What the bus knows of one session, and where it keeps all of them.
//!
//! Sessions are spread over shards by a hash of their id. A shard's lock is held
//! for a look-up and a few assignments, never while a reader runs, so the cost of
//! an emission does not depend on how many sessions there are.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hashbrown::hash_map::EntryRef;
use hashbrown::{DefaultHashBuilder, HashMap};

use super::inbox::Inbox;
use super::reader::Reader;
use super::subscribers::{Backlog, Subscription};
use crate::brackets::OpenBrackets;
use crate::event::AgentEvent;
use crate::lock::Recover;
use crate::record::OpaqueEvent;
use crate::sink::AgentEventSink;

const SHARDS: usize = 64;

/// Everything that belongs to a session and ends with it.
pub(super) struct Session {
    /// Tells this session from a later one with the same id.
    pub(super) generation: u64,
    /// The sink that keeps the session's events; attached when it is opened and
    /// not touched by clearing the others.
    pub(super) durable: Option<Arc<Reader>>,
    /// In registration order. Copied on write: delivery works on a snapshot.
    pub(super) sinks: Arc<Vec<Arc<Reader>>>,
    /// In subscription order, copied on write.
    pub(super) subscribers: Arc<Vec<Arc<Subscription>>>,
    /// Events that subscribers have not seen.
    pub(super) backlog: Backlog,
    /// Whether a thread delivers right now. Others leave their events in `waiting`.
    pub(super) is_delivering: bool,
    pub(super) waiting: VecDeque<Waiting>,
    /// How many events have got their place in the order, and how many of them
    /// have been delivered.
    pub(super) emitted: u64,
    pub(super) delivered: u64,
    pub(super) brackets: OpenBrackets,
    pub(super) inbox: Inbox,
    /// Runs in progress.
    pub(super) active_runs: u32,
    /// How often its runs were abandoned.
    pub(super) abandonments: u64,
    /// Whether it is in the table of open sessions.
    pub(super) is_open: bool,
    /// How far its end has come.
    pub(super) closing: Closing,
}

/// The end of a session, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// It goes on.
    No,
    /// Its last event is on the way; no other is accepted.
    Announced,
    /// It goes as soon as nobody delivers for it any more.
    Due,
}

/// An event that waits for the one in delivery.
pub(super) struct Waiting {
    pub(super) payload: Payload,
    pub(super) stamp: Stamp,
    pub(super) loop_sink: Option<Arc<dyn AgentEventSink>>,
    pub(super) skip_sinks: bool,
    pub(super) depth: u32,
}

/// What is delivered, owned.
pub(super) enum Payload {
    Event(Box<AgentEvent>),
    Opaque(Box<OpaqueEvent>),
}

/// What all readers of an emission agree on.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub(super) sequence: u64,
    pub(super) emitted_at_ms: i64,
    pub(super) frame_depth: Option<u32>,
}

impl Session {
    pub(super) fn new(generation: u64) -> Box<Self> {
        Box::new(Self {
            generation,
            durable: None,
            sinks: Arc::default(),
            subscribers: Arc::default(),
            backlog: Backlog::default(),
            is_delivering: false,
            waiting: VecDeque::new(),
            emitted: 0,
            delivered: 0,
            brackets: OpenBrackets::default(),
            inbox: Inbox::default(),
            active_runs: 0,
            abandonments: 0,
            is_open: false,
            closing: Closing::No,
        })
    }

    /// Whether somebody has opened it or is running on it.
    pub(super) fn is_kept(&self) -> bool {
        self.is_open || self.active_runs > 0
    }

    /// Whether it has closed and nobody delivers for it any more.
    pub(super) fn is_over(&self) -> bool {
        self.closing == Closing::Due && !self.is_delivering && !self.backlog.is_draining
    }

    /// Leaves its closures what they have not seen, and nothing that comes after it. Whoever
    /// gets them drops them without a lock.
    pub(super) fn let_subscribers_go(&mut self) -> Arc<Vec<Arc<Subscription>>> {
        let gone = std::mem::take(&mut self.subscribers);
        self.backlog.belongs_to(&gone);
        gone
    }

    /// Whether nothing would be lost by forgetting it.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_kept()
            && !self.is_delivering
            && self.durable.is_none()
            && self.sinks.is_empty()
            && self.subscribers.is_empty()
            && self.inbox.is_empty()
    }

    /// Whether a reader would see an event of the session.
    pub(super) fn has_readers(&self) -> bool {
        self.durable.is_some() || !self.sinks.is_empty() || !self.subscribers.is_empty()
    }
}

pub(super) type Sessions = HashMap<Arc<str>, Box<Session>>;

/// One shard: its sessions, and a signal that one of them has moved on.
#[derive(Default)]
pub(super) struct Shard {
    sessions: Mutex<Sessions>,
    moved_on: Condvar,
    /// Held while a session is being opened or claimed for closing, so that each
    /// happens as one step and a session gets just one durable sink.
    pub(super) lifecycle: Mutex<()>,
    /// Threads that wait for the signal. Usually none, and then nobody signals:
    /// a signal costs a system call whether or not somebody hears it.
    waiters: AtomicUsize,
}

impl Shard {
    pub(super) fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.recover()
    }

    /// Waits until a session of the shard has moved on.
    pub(super) fn wait<'a>(&self, sessions: MutexGuard<'a, Sessions>) -> MutexGuard<'a, Sessions> {
        // Counted under the lock, so that whoever moves on next sees it.
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let sessions = self.moved_on.wait(sessions);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        sessions.unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all sessions out, for the caller to drop.
    pub(super) fn take_all(&self) -> Sessions {
        let mut sessions = self.lock();
        self.notify();
        std::mem::take(&mut *sessions)
    }

    /// Says that a session has moved on. Called with the shard locked.
    pub(super) fn notify(&self) {
        if self.waiters.load(Ordering::Relaxed) > 0 {
            self.moved_on.notify_all();
        }
    }
}

/// All sessions.
pub(super) struct Shards {
    shards: Box<[Shard]>,
    hasher: DefaultHashBuilder,
}

impl Default for Shards {
    fn default() -> Self {
        Self {
            shards: std::iter::repeat_with(Shard::default)
                .take(SHARDS)
                .collect(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl Shards {
    pub(super) fn of(&self, session_id: &str) -> &Shard {
        let hash = self.hasher.hash_one(session_id);
        &self.shards[hash as usize % SHARDS]
    }

    pub(super) fn lock(&self, session_id: &str) -> MutexGuard<'_, Sessions> {
        self.of(session_id).lock()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Shard> {
        self.shards.iter()
    }
}

/// The session, made if it is not there yet.
pub(super) fn entry<'a>(
    sessions: &'a mut Sessions,
    session_id: &str,
    generation: impl FnOnce() -> u64,
) -> &'a mut Session {
    match sessions.entry_ref(session_id) {
        EntryRef::Occupied(entry) => entry.into_mut(),
        EntryRef::Vacant(entry) => {
            entry.insert_with_key(Arc::from(session_id), Session::new(generation()))
        }
    }
}

/// Takes a session out and gives back the memory of a shard that has emptied.
#[must_use = "drop it when the shard is no longer locked"]
pub(super) fn remove(sessions: &mut Sessions, session_id: &str) -> Option<Box<Session>> {
    let removed = sessions.remove(session_id);
    if sessions.capacity() > 64 && sessions.len() * 4 < sessions.capacity() {
        sessions.shrink_to(sessions.len() * 2);
    }
    removed
}

/// Takes a session out of the shard if nothing depends on it. The caller drops it
/// after the lock: what a reader does when it is dropped is not ours to know.
#[must_use = "drop it when the shard is no longer locked"]
pub(super) fn prune(sessions: &mut Sessions, session_id: &str) -> Option<Box<Session>> {
    let is_idle = sessions
        .get(session_id)
        .is_some_and(|session| session.is_idle());
    if is_idle {
        remove(sessions, session_id)
    } else {
        None
    }
}

/// Takes readers out of a list and returns them, to be dropped after the lock.
#[must_use = "drop them when the shard is no longer locked"]
pub(super) fn take_out<T>(
    list: &mut Arc<Vec<Arc<T>>>,
    is_taken: impl Fn(&T) -> bool,
) -> Vec<Arc<T>> {
    let (taken, kept) = list.iter().cloned().partition(|item| is_taken(item));
    *list = Arc::new(kept);
    taken
}
