//! The event streams of one HTTP connection.
//!
//! One belongs to the connection and one to each session. Who opens a stream gets what waits
//! for it; a second reader takes over from the first, because a client that comes back must not
//! wait until we notice that it had left.
//!
//! A client that begins to follow a session and does not say so in `Acp-Session-Id` does not
//! know yet that the session has a stream. Until it opens that one, what concerns the session
//! goes out on the stream of the connection, and it stays there until the request is answered:
//! updates must not overtake each other on two streams.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::routes::{Effect, Route};
use crate::frames::{Counters, End, Gone, Limits, Outbox, Room};

/// The event streams of one connection.
pub(super) struct Streams {
    connection: Stream,
    sessions: Mutex<HashMap<String, Session>>,
    sessions_max: usize,
    limits: Limits,
    counters: Arc<Counters>,
    /// How many streams are being read.
    readers: watch::Sender<usize>,
}

#[derive(Clone)]
struct Stream {
    outbox: Outbox,
    /// Which reader has it. An older one stops when it sees a newer number.
    reader: Arc<watch::Sender<u64>>,
}

struct Session {
    stream: Stream,
    /// Whether somebody reads the stream.
    is_read: bool,
    /// Whether its messages go out with those of the connection until somebody reads it.
    is_beside: bool,
    /// Requests that begin to follow it and are not answered.
    attaching: usize,
}

/// Why a stream cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unavailable {
    /// There are too many.
    TooMany,
}

/// Somebody who reads a stream. Dropping it says that nobody does any more.
pub(super) struct Reader {
    streams: Arc<Streams>,
    session: Option<String>,
    stream: Stream,
    number: u64,
}

impl Streams {
    pub(super) fn new(limits: Limits, counters: Arc<Counters>, sessions_max: usize) -> Arc<Self> {
        Arc::new(Self {
            connection: Stream::new(limits, &counters),
            sessions: Mutex::default(),
            sessions_max,
            limits,
            counters,
            readers: watch::Sender::new(0),
        })
    }

    /// Reads the stream of a session, or that of the connection.
    pub(super) fn read(self: &Arc<Self>, session: Option<&str>) -> Result<Reader, Unavailable> {
        let stream = match session {
            None => self.connection.clone(),
            Some(id) => {
                let mut sessions = self.sessions();
                if !sessions.contains_key(id) && sessions.len() >= self.sessions_max {
                    return Err(Unavailable::TooMany);
                }
                let session = self.session_in(&mut sessions, id);
                session.is_read = true;
                session.is_beside = session.is_beside && session.attaching > 0;
                session.stream.clone()
            }
        };
        let number = stream.take_over();
        self.readers.send_modify(|readers| *readers += 1);
        Ok(Reader {
            streams: Arc::clone(self),
            session: session.map(str::to_owned),
            stream,
            number,
        })
    }

    /// How many streams are being read, and when that changes.
    pub(super) fn readers(&self) -> watch::Receiver<usize> {
        self.readers.subscribe()
    }

    /// A request of the client was accepted. `is_named` says whether it came with the header.
    pub(super) fn asked(&self, route: &Route, is_named: bool) {
        let (Some(id), Effect::Attaches) = (&route.session, route.effect) else {
            return;
        };
        let mut sessions = self.sessions();
        let has_room = sessions.contains_key(id) || sessions.len() < self.sessions_max;
        if !has_room {
            return;
        }
        let session = self.session_in(&mut sessions, id);
        session.attaching += 1;
        session.is_beside = session.is_beside || !is_named && !session.is_read;
    }

    /// Where a question or an update about a session goes.
    pub(super) fn for_session(&self, id: Option<&str>) -> Outbox {
        let Some(id) = id else {
            return self.connection.outbox.clone();
        };
        let mut sessions = self.sessions();
        if !sessions.contains_key(id) && sessions.len() >= self.sessions_max {
            return self.connection.outbox.clone();
        }
        let session = self.session_in(&mut sessions, id);
        match session.is_beside {
            true => self.connection.outbox.clone(),
            false => session.stream.outbox.clone(),
        }
    }

    /// Sends a question or an update, and gives back the place that it had: perhaps it was
    /// promised one on the stream of the connection, and now goes to that of the session.
    pub(super) fn send(&self, session: Option<&str>, frame: String, is_update: bool) -> bool {
        let outbox = self.for_session(session);
        let had_place = outbox.push(frame, is_update);
        if is_update && !had_place {
            self.connection.outbox.give_up_place();
        }
        !outbox.is_lost()
    }

    /// Where an answer goes.
    ///
    /// One about a session goes to its stream. But an answer that begins or ends one goes to
    /// the connection if nobody reads the session's stream: the client may not know of it yet,
    /// or not any more. One that names no session, or one that the agent does not know, too.
    pub(super) fn for_answer(&self, route: Option<Route>, is_good: bool) -> Outbox {
        let connection = || self.connection.outbox.clone();
        let Some(Route {
            session: Some(id),
            effect,
        }) = route
        else {
            return connection();
        };
        let mut sessions = self.sessions();
        let Some(session) = sessions.get_mut(&id) else {
            return connection();
        };
        let (own, is_read) = (session.stream.outbox.clone(), session.is_read);
        let was_beside = session.is_beside;
        match effect {
            Effect::None if was_beside => connection(),
            Effect::None => own,
            Effect::Attaches => {
                session.attaching = session.attaching.saturating_sub(1);
                session.is_beside = was_beside && !(session.attaching == 0 && is_read);
                if !is_good && session.is_idle() {
                    sessions.remove(&id);
                }
                if was_beside || !is_read {
                    connection()
                } else {
                    own
                }
            }
            Effect::Ends => {
                if is_good && let Some(ended) = sessions.remove(&id) {
                    // What waits is still read, and then nothing comes.
                    drop(ended);
                }
                if is_read { own } else { connection() }
            }
        }
    }

    /// The client has left, so nobody waits for it to read.
    pub(super) fn closing(&self) {
        self.connection.outbox.closing();
        for session in self.sessions().values() {
            session.stream.outbox.closing();
        }
    }

    /// Nothing more will be said.
    pub(super) fn end(&self, end: End) {
        self.connection.outbox.end(end);
        for session in self.sessions().values() {
            session.stream.outbox.end(end);
        }
    }

    fn session_in<'a>(
        &self,
        sessions: &'a mut HashMap<String, Session>,
        id: &str,
    ) -> &'a mut Session {
        sessions.entry(id.to_owned()).or_insert_with(|| Session {
            stream: Stream::new(self.limits, &self.counters),
            is_read: false,
            is_beside: false,
            attaching: 0,
        })
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Whether nothing would be lost if it was forgotten.
    fn is_idle(&self) -> bool {
        !self.is_read && self.attaching == 0 && self.stream.outbox.is_empty()
    }
}

impl Stream {
    fn new(limits: Limits, counters: &Arc<Counters>) -> Self {
        Self {
            outbox: Outbox::new(limits, Arc::clone(counters)),
            reader: Arc::new(watch::Sender::new(0)),
        }
    }

    fn take_over(&self) -> u64 {
        let mut number = 0;
        self.reader.send_modify(|reader| {
            *reader += 1;
            number = *reader;
        });
        number
    }
}

impl Reader {
    /// The next frame; `None` when there are no more, or somebody else reads.
    pub(super) async fn next(&mut self) -> Option<String> {
        let number = self.number;
        let mut newer = self.stream.reader.subscribe();
        tokio::select! {
            biased;
            _ = newer.wait_for(|reader| *reader != number) => None,
            frame = self.stream.outbox.next() => frame,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.streams.readers.send_modify(|readers| *readers -= 1);
        let is_newest = *self.stream.reader.borrow() == self.number;
        if let Some(id) = self.session.as_ref().filter(|_| is_newest) {
            let mut sessions = self.streams.sessions();
            let is_idle = sessions.get_mut(id).is_some_and(|session| {
                session.is_read = false;
                session.is_idle()
            });
            if is_idle {
                sessions.remove(id);
            }
        }
    }
}

impl Room for Streams {
    fn reserve<'a>(
        &'a self,
        session: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), Gone>> + Send + 'a>> {
        Box::pin(async move { self.for_session(Some(session)).reserve_place().await })
    }
}
