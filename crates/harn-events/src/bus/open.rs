//! Open sessions: how many there may be, and how one ends.
//!
//! Opening attaches the durable sink; closing says so on the stream and then
//! removes everything the session had. When the table is full, the session that
//! has been idle longest makes room, visibly. A session with a run on it is
//! never taken away.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;

use super::feedback::Orphans;
use super::reader::Reader;
use super::session::Closing;
use super::{EventBus, session};
use crate::event::AgentEvent;
use crate::lock::Recover;

/// Why a session could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenSessionError {
    /// The id is empty.
    #[error("a session id cannot be empty")]
    EmptyId,
    /// The table is full of sessions that are at work.
    #[error("cannot open session `{session_id}`: all {sessions_max} sessions are active")]
    AtCapacity {
        /// Session that was to be opened.
        session_id: String,
        /// How many sessions may be open.
        sessions_max: usize,
    },
}

/// What the closing event says.
#[derive(Clone, Debug, PartialEq)]
pub struct CloseSession {
    /// Why the session ends.
    pub reason: String,
    /// Its final status.
    pub status: String,
    /// What the caller adds.
    pub metadata: Value,
}

impl CloseSession {
    /// Reason and status in one word.
    pub fn because(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            status: reason.to_owned(),
            metadata: Value::Null,
        }
    }
}

impl CloseSession {
    fn event(self, session_id: &str) -> AgentEvent {
        let Self {
            reason,
            status,
            metadata,
        } = self;
        let session_id = session_id.to_owned();
        AgentEvent::SessionClosed {
            session_id,
            reason,
            status,
            metadata,
        }
    }
}

impl Default for CloseSession {
    fn default() -> Self {
        Self::because("closed")
    }
}

/// The sessions that are open, and when each was last used.
pub(super) struct OpenTable {
    sessions: HashMap<Arc<str>, OpenSession>,
    by_use: BTreeMap<u64, Arc<str>>,
    uses: u64,
    sessions_max: usize,
    pub(super) orphans: Orphans,
}

#[derive(Clone, Copy, Default)]
struct OpenSession {
    /// Tells this opening from a later one of the same id.
    opening: u64,
    last_use: u64,
    active_runs: u32,
}

impl OpenTable {
    pub(super) fn new(sessions_max: usize) -> Self {
        Self {
            sessions: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            sessions_max: sessions_max.max(1),
            orphans: Orphans::default(),
        }
    }

    /// Notes a use; says whether the session was open before.
    fn touch(&mut self, session_id: &str) -> bool {
        let id = self
            .sessions
            .get_key_value(session_id)
            .map(|(id, _)| Arc::clone(id));
        let was_open = id.is_some();
        let id = id.unwrap_or_else(|| Arc::from(session_id));
        self.uses += 1;
        let open = self.sessions.entry(Arc::clone(&id)).or_default();
        if !was_open {
            open.opening = self.uses;
        }
        self.by_use.remove(&open.last_use);
        open.last_use = self.uses;
        self.by_use.insert(self.uses, id);
        was_open
    }

    fn forget(&mut self, session_id: &str) {
        if let Some(open) = self.sessions.remove(session_id) {
            self.by_use.remove(&open.last_use);
        }
        if self.sessions.capacity() > 256 && self.sessions.len() * 4 < self.sessions.capacity() {
            self.sessions.shrink_to(self.sessions.len() * 2);
        }
    }

    /// The session that has been idle longest.
    fn idlest(&self) -> Option<Arc<str>> {
        self.by_use
            .values()
            .find(|id| self.sessions[*id].active_runs == 0)
            .cloned()
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }
}

impl EventBus {
    /// Opens a session, or notes that an open one is used again. A durable sink
    /// is attached once, when it is opened.
    ///
    /// # Errors
    /// At capacity with every open session active, nothing can make room.
    pub fn open_session(&self, session_id: &str) -> Result<(), OpenSessionError> {
        if session_id.is_empty() {
            return Err(OpenSessionError::EmptyId);
        }
        let evicted = {
            let mut open = self.inner.open.recover();
            let is_new = !open.sessions.contains_key(session_id);
            let evicted = match is_new && open.len() >= open.sessions_max {
                false => None,
                true => Some(open.idlest().ok_or_else(|| OpenSessionError::AtCapacity {
                    session_id: session_id.to_owned(),
                    sessions_max: open.sessions_max,
                })?),
            };
            if let Some(id) = &evicted {
                open.forget(id);
            }
            open.touch(session_id);
            evicted
        };
        if let Some(id) = evicted {
            self.inner.counters.evicted.fetch_add(1, Ordering::Relaxed);
            self.finish_session(&id, CloseSession::because("evicted"));
        }
        self.attach(session_id);
        Ok(())
    }

    /// Closes a session: emits `session_closed` as its last event and then removes
    /// its sinks, closures, inbox and everything else the bus knows of it.
    /// Closing a session the bus knows nothing of does nothing.
    pub fn close_session(&self, session_id: &str, closing: CloseSession) {
        if self.forget_open(session_id) | self.is_known(session_id) {
            self.finish_session(session_id, closing);
        }
    }

    /// Like [`close_session`](Self::close_session), and lets the session's closures
    /// see its last event before they go.
    pub async fn close_session_and_await(&self, session_id: &str, closing: CloseSession) {
        if !(self.forget_open(session_id) | self.is_known(session_id)) {
            return;
        }
        self.cancel_questions(session_id);
        self.update_session(session_id, |session| session.closing = Closing::Announced);
        self.emit_and_await(&closing.event(session_id)).await;
        self.update_session(session_id, |session| {
            if session.closing == Closing::Announced {
                session.closing = Closing::Due;
            }
        });
        self.remove_closed(session_id);
    }

    /// Takes a session out of the table; says whether it was in it.
    fn forget_open(&self, session_id: &str) -> bool {
        let mut open = self.inner.open.recover();
        let was_open = open.sessions.contains_key(session_id);
        open.forget(session_id);
        was_open
    }

    /// Whether the session is open.
    pub fn is_session_open(&self, session_id: &str) -> bool {
        self.inner.open.recover().sessions.contains_key(session_id)
    }

    /// Changes how many sessions may be open, at least one. Sessions that are
    /// open already stay.
    pub fn set_session_cap(&self, sessions_max: usize) {
        self.inner.open.recover().sessions_max = sessions_max.max(1);
    }

    /// Notes a run on an open session; returns which opening it runs in.
    pub(super) fn mark_active(&self, session_id: &str) -> Option<u64> {
        let mut open = self.inner.open.recover();
        let session = open.sessions.get_mut(session_id)?;
        session.active_runs += 1;
        let opening = session.opening;
        open.touch(session_id);
        Some(opening)
    }

    /// Notes the end of a run, unless its session has been closed meanwhile.
    pub(super) fn mark_idle(&self, session_id: &str, opening: u64) {
        let mut open = self.inner.open.recover();
        let session = open.sessions.get_mut(session_id);
        if let Some(session) = session.filter(|session| session.opening == opening) {
            session.active_runs -= 1;
            open.touch(session_id);
        }
    }

    pub(super) fn forget_open_sessions(&self) {
        let mut open = self.inner.open.recover();
        *open = OpenTable::new(open.sessions_max);
    }

    /// Marks the session as open and gives it its durable sink. A session that
    /// is reopened while it closes goes on as it is.
    fn attach(&self, session_id: &str) {
        let _attaching = self.inner.shards.of(session_id).attaching.recover();
        let has_durable = self.with_session(session_id, |session| {
            session.is_open = true;
            session.closing = Closing::No;
            session.durable.is_some()
        });
        let Some(durable) = self.inner.config.durable.as_ref().filter(|_| !has_durable) else {
            return;
        };
        match durable.open(session_id) {
            Ok(sink) => {
                let reader = Reader::new(self.inner.next_id(), sink);
                self.update_session(session_id, |session| session.durable = Some(reader));
            }
            Err(error) => {
                let failures = &self.inner.counters.attach_failures;
                failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(target: "agent.sink", session_id, %error, "events are not being kept");
            }
        }
    }

    fn is_known(&self, session_id: &str) -> bool {
        self.inner.shards.lock(session_id).contains_key(session_id)
    }

    fn finish_session(&self, session_id: &str, closing: CloseSession) {
        self.cancel_questions(session_id);
        self.update_session(session_id, |session| session.closing = Closing::Due);
        self.emit(&closing.event(session_id));
        self.remove_closed(session_id);
    }

    /// Removes a session that is due, unless its events are still on their way:
    /// then the thread that delivers them removes it.
    fn remove_closed(&self, session_id: &str) {
        let mut sessions = self.inner.shards.lock(session_id);
        let is_due = sessions
            .get(session_id)
            .is_some_and(|session| session.closing == Closing::Due && session.delivering.is_none());
        let removed = is_due
            .then(|| session::remove(&mut sessions, session_id))
            .flatten();
        drop(sessions);
        self.inner.discard(removed);
        self.forget_host_issues(session_id);
    }
}
