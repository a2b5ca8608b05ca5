//! What the bus knows of one session, and where it keeps all of them.
//!
//! Sessions are spread over shards by a hash of their id. A shard's lock is held
//! for a look-up and a few assignments, never while a reader runs, so the cost of
//! an emission does not depend on how many sessions there are.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::ThreadId;

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
    /// Who is delivering right now. Others leave their events in `waiting`.
    pub(super) delivering: Option<Delivering>,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) brackets: OpenBrackets,
    pub(super) inbox: Inbox,
    /// Text candidates numbered so far.
    pub(super) candidates: u64,
    /// Whether it is in the table of open sessions.
    pub(super) is_open: bool,
    /// Closed while events were on their way; it goes when they have arrived.
    pub(super) is_closing: bool,
}

/// The thread that delivers, and how deep readers have nested.
#[derive(Clone, Copy)]
pub(super) struct Delivering {
    pub(super) thread: ThreadId,
    pub(super) depth: u32,
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
            delivering: None,
            waiting: VecDeque::new(),
            brackets: OpenBrackets::default(),
            inbox: Inbox::default(),
            candidates: 0,
            is_open: false,
            is_closing: false,
        })
    }

    /// Whether nothing would be lost by forgetting it.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_open
            && self.delivering.is_none()
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
    pub(super) sessions: Mutex<Sessions>,
    pub(super) moved_on: Condvar,
}

/// All sessions.
pub(super) struct Shards {
    shards: Box<[Shard]>,
    hasher: RandomState,
}

impl Default for Shards {
    fn default() -> Self {
        Self {
            shards: std::iter::repeat_with(Shard::default)
                .take(SHARDS)
                .collect(),
            hasher: RandomState::new(),
        }
    }
}

impl Shards {
    pub(super) fn of(&self, session_id: &str) -> &Shard {
        let hash = self.hasher.hash_one(session_id);
        &self.shards[hash as usize % SHARDS]
    }

    pub(super) fn lock(&self, session_id: &str) -> MutexGuard<'_, Sessions> {
        self.of(session_id).sessions.recover()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = MutexGuard<'_, Sessions>> {
        self.shards.iter().map(|shard| shard.sessions.recover())
    }
}

/// The session, made if it is not there yet.
pub(super) fn entry<'a>(
    sessions: &'a mut Sessions,
    session_id: &str,
    generation: impl FnOnce() -> u64,
) -> &'a mut Session {
    match sessions.entry(Arc::from(session_id)) {
        Entry::Occupied(session) => session.into_mut(),
        Entry::Vacant(place) => place.insert(Session::new(generation())),
    }
}

/// Removes a session and gives back the memory of a shard that has emptied.
pub(super) fn remove(sessions: &mut Sessions, session_id: &str) -> Option<Box<Session>> {
    let removed = sessions.remove(session_id);
    if sessions.capacity() > 64 && sessions.len() * 4 < sessions.capacity() {
        sessions.shrink_to(sessions.len() * 2);
    }
    removed
}

/// Forgets the session if nothing depends on it.
pub(super) fn prune(sessions: &mut Sessions, session_id: &str) {
    if sessions
        .get(session_id)
        .is_some_and(|session| session.is_idle())
    {
        remove(sessions, session_id);
    }
}
