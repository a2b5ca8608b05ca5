//! Open sessions: how many there may be, and how one ends.
//!
//! Opening attaches the durable sink; closing says so on the stream and then
//! removes everything the session had. When the table is full, the session that
//! has been idle longest makes room, visibly. A session with a run on it is
//! never taken away.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use serde_json::Value;

use super::feedback::Orphans;
use super::reader::Reader;
use super::session::Closing;
use super::{DurableSinks, EventBus, session};
use crate::event::AgentEvent;
use crate::lock::Recover;
use crate::redact::RedactionPolicy;
use crate::sink::AgentEventSink;

/// How the durable sink of a session is opened.
type OpenSink = fn(
    &(dyn DurableSinks + 'static),
    &str,
    &RedactionPolicy,
) -> io::Result<Arc<dyn AgentEventSink>>;

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

#[derive(Clone, Copy)]
struct OpenSession {
    /// Tells this opening from a later one of the same id.
    opening: u64,
    last_use: u64,
    /// Runs, and openings that are not done yet. A session in use is not evicted.
    uses_in_progress: u32,
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
        self.uses += 1;
        let last_use = self.uses;
        if let Some((id, open)) = self.sessions.get_key_value_mut(session_id) {
            self.by_use.remove(&open.last_use);
            self.by_use.insert(last_use, Arc::clone(id));
            open.last_use = last_use;
            return true;
        }
        let id: Arc<str> = Arc::from(session_id);
        self.by_use.insert(last_use, Arc::clone(&id));
        let open = OpenSession {
            opening: last_use,
            last_use,
            uses_in_progress: 0,
        };
        self.sessions.insert(id, open);
        false
    }

    /// Takes a session out; says whether it was in.
    fn forget(&mut self, session_id: &str) -> bool {
        let removed = self.sessions.remove(session_id);
        if let Some(open) = &removed {
            self.by_use.remove(&open.last_use);
        }
        if self.sessions.capacity() > 256 && self.sessions.len() * 4 < self.sessions.capacity() {
            self.sessions.shrink_to(self.sessions.len() * 2);
        }
        removed.is_some()
    }

    fn has_room_for(&self, session_id: &str) -> bool {
        self.sessions.contains_key(session_id) || self.sessions.len() < self.sessions_max
    }

    fn is_idle(&self, session_id: &str) -> bool {
        let session = self.sessions.get(session_id);
        session.is_some_and(|session| session.uses_in_progress == 0)
    }

    fn is_opening(&self, session_id: &str, opening: u64) -> bool {
        let session = self.sessions.get(session_id);
        session.is_some_and(|session| session.opening == opening)
    }

    /// Notes that an open session is in use; returns which opening it is.
    pub(super) fn begin_use(&mut self, session_id: &str) -> Option<u64> {
        let session = self.sessions.get_mut(session_id)?;
        session.uses_in_progress += 1;
        let opening = session.opening;
        self.touch(session_id);
        Some(opening)
    }

    /// Notes the end of a use, unless the session has been closed meanwhile.
    pub(super) fn end_use(&mut self, session_id: &str, opening: u64) {
        if self.is_opening(session_id, opening) {
            let session = self.sessions.get_mut(session_id);
            let uses = &mut session.expect("it is there").uses_in_progress;
            *uses = uses.saturating_sub(1);
            self.touch(session_id);
        }
    }

    /// The session that has been idle longest.
    fn idlest(&self) -> Option<Arc<str>> {
        self.by_use
            .values()
            .find(|id| self.sessions[*id].uses_in_progress == 0)
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
        self.open_with(session_id, <dyn DurableSinks>::open)
    }

    /// Opens a session whose id nobody had before, in no process: nothing of it is stored, so
    /// nobody looks where it ends.
    ///
    /// # Errors
    /// As [`open_session`](Self::open_session).
    pub fn open_new_session(&self, session_id: &str) -> Result<(), OpenSessionError> {
        self.open_with(session_id, <dyn DurableSinks>::open_new)
    }

    fn open_with(&self, session_id: &str, open: OpenSink) -> Result<(), OpenSessionError> {
        if session_id.is_empty() {
            return Err(OpenSessionError::EmptyId);
        }
        let opening = loop {
            let idlest = {
                let mut open = self.inner.open.recover();
                if open.has_room_for(session_id) {
                    // A session that is being opened counts as active: it must not
                    // be evicted before it has begun.
                    open.touch(session_id);
                    break open.begin_use(session_id).expect("it was just noted");
                }
                open.idlest().ok_or_else(|| OpenSessionError::AtCapacity {
                    session_id: session_id.to_owned(),
                    sessions_max: open.sessions_max,
                })?
            };
            self.evict(&idlest);
        };
        self.attach(session_id, opening, open);
        self.inner.open.recover().end_use(session_id, opening);
        Ok(())
    }

    /// Closes a session: ends what is open in it, emits `session_closed` as its last
    /// event and then removes its sinks, closures, inbox and everything else the bus
    /// knows of it. Closing a session the bus knows nothing of does nothing.
    pub fn close_session(&self, session_id: &str, closing: CloseSession) {
        if let Some(finishing) = self.claim_close(session_id, |open| open.forget(session_id)) {
            finishing.announce();
            self.emit_at_close(&closing.event(session_id));
        }
    }

    /// Like [`close_session`](Self::close_session), and lets the session's closures
    /// see its last event before they go. One that closes its own session sees that event
    /// when it has finished with the one it has.
    ///
    /// # Cancel safety
    /// A session that has begun to close is removed also when the future is dropped.
    pub async fn close_session_and_await(&self, session_id: &str, closing: CloseSession) {
        if let Some(finishing) = self.claim_close(session_id, |open| open.forget(session_id)) {
            finishing.announce();
            self.emit_at_close(&closing.event(session_id));
            self.deliver_to_subscribers(session_id).await;
        }
    }

    /// Makes room by closing a session, unless it is in use after all.
    fn evict(&self, session_id: &str) {
        let claimed = self.claim_close(session_id, |open| {
            open.is_idle(session_id) && open.forget(session_id)
        });
        if let Some(finishing) = claimed {
            self.inner.counters.evicted.fetch_add(1, Ordering::Relaxed);
            finishing.announce();
            self.emit_at_close(&CloseSession::because("evicted").event(session_id));
        }
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

    pub(super) fn forget_open_sessions(&self) {
        let mut open = self.inner.open.recover();
        // Numbers are not used again: a guard of before must not fit a session of after.
        let uses = open.uses;
        *open = OpenTable::new(open.sessions_max);
        open.uses = uses;
    }

    /// Marks the session as open and gives it its durable sink, unless it has been
    /// closed again. A session that is reopened while it closes goes on as it is, without the
    /// closures of before: they have seen its end, or will.
    fn attach(&self, session_id: &str, opening: u64, open: OpenSink) {
        let _lifecycle = self.inner.shards.of(session_id).lifecycle.recover();
        if !self.inner.open.recover().is_opening(session_id, opening) {
            return;
        }
        let (has_durable, _gone) = self.with_session(session_id, |session| {
            let is_successor = session.closing != Closing::No;
            let gone = is_successor.then(|| session.let_subscribers_go());
            session.is_open = true;
            session.closing = Closing::No;
            (session.durable.is_some(), gone)
        });
        let Some(durable) = self.inner.config.durable.as_ref().filter(|_| !has_durable) else {
            return;
        };
        match open(&**durable, session_id, &self.redaction_policy()) {
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

    /// The right to end a session, given to one caller only. `forget` takes it out of
    /// the table of open ones and says whether it was in it.
    fn claim_close<'a>(
        &'a self,
        session_id: &'a str,
        forget: impl FnOnce(&mut OpenTable) -> bool,
    ) -> Option<Finishing<'a>> {
        let _lifecycle = self.inner.shards.of(session_id).lifecycle.recover();
        let was_open = forget(&mut self.inner.open.recover());
        let claimed = self.update_session(session_id, |session| {
            let is_ours = session.closing == Closing::No && (was_open || !session.is_open);
            if is_ours {
                session.closing = Closing::Announced;
            }
            is_ours
        });
        let is_ours = claimed.unwrap_or(was_open);
        is_ours.then(|| Finishing {
            bus: self,
            session_id,
        })
    }

    /// Removes a session that is due, unless its events are still on their way:
    /// then whoever delivers them removes it.
    pub(super) fn remove_closed(&self, session_id: &str) {
        let mut sessions = self.inner.shards.lock(session_id);
        let is_over = sessions
            .get(session_id)
            .is_some_and(|session| session.is_over());
        let removed = is_over
            .then(|| session::remove(&mut sessions, session_id))
            .flatten();
        drop(sessions);
        self.inner.discard(removed);
    }
}

/// A session that is being closed. However closing it goes on, it is removed.
struct Finishing<'a> {
    bus: &'a EventBus,
    session_id: &'a str,
}

impl Finishing<'_> {
    /// Ends what is open in the session, so that nobody waits for it.
    fn announce(&self) {
        let endings = self.bus.update_session(self.session_id, |session| {
            let has_run = session.active_runs > 0;
            session.brackets.last_closings(self.session_id, has_run)
        });
        for event in endings.into_iter().flatten() {
            self.bus.emit_at_close(&event);
        }
    }
}

impl Drop for Finishing<'_> {
    fn drop(&mut self) {
        self.bus.update_session(self.session_id, |session| {
            // Unless it has been opened again meanwhile.
            if session.closing == Closing::Announced {
                session.closing = Closing::Due;
            }
        });
        self.bus.remove_closed(self.session_id);
        self.bus.forget_host_issues(self.session_id);
    }
}
