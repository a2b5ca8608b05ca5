//! From one `emit` to every reader, in one order.
//!
//! ```text
//! emit ─► redact ─► stamp and enqueue (shard lock) ─► nobody delivering? ─yes─► deliver until
//!                                                          │no                  the queue is empty
//!                                                          ▼
//!                                           the thread that delivers takes it
//! ```
//!
//! Readers of a session see its events one at a time and all in the same order,
//! although no lock is held while they run and although they may emit. Both
//! follow from the turn: the first emitter delivers, and whatever else is emitted
//! meanwhile, by a reader or by another thread, waits for its turn in the
//! session's queue and is delivered before the first emitter returns. An emitter
//! that finds its session busy returns at once; it cannot wait, because the
//! reader that is running may be waiting for it.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;

use super::reader::{Delivery, Reader};
use super::session::{self, Delivering, Payload, Session, Sessions, Shard, Stamp, Waiting};
use super::{EventBus, Inner};
use crate::brackets::Admission;
use crate::event::AgentEvent;
use crate::lock::{Recover, RecoverShared};
use crate::record::OpaqueEvent;
use crate::sink::{AgentEventSink, AgentEventSinkError, EmissionFrame, flush_all};

impl EventBus {
    /// Delivers an event to the sinks of its session, to the observers of all
    /// sessions and to the running loop's sink; closures see it at the next point
    /// where they can be awaited.
    pub fn emit(&self, event: &AgentEvent) {
        self.inner.counters.emitted.fetch_add(1, Ordering::Relaxed);
        let policy = self.redaction_policy();
        let event = policy.redact_event(event);
        self.inner.publish(Outgoing::Event(event));
    }

    /// Like [`emit`](Self::emit), and awaits the session's closures.
    pub async fn emit_and_await(&self, event: &AgentEvent) {
        self.emit(event);
        self.deliver_to_subscribers(event.session_id()).await;
    }

    /// Delivers a record that this version does not understand, to the sinks that
    /// ask for such records. One without a session reaches the observers alone.
    pub fn emit_opaque(&self, event: &OpaqueEvent) {
        self.inner.counters.emitted.fetch_add(1, Ordering::Relaxed);
        self.inner.publish(Outgoing::Opaque(event));
    }

    /// Waits until everything emitted for the session so far has been delivered.
    /// Returns at once when called by one of the session's readers.
    pub fn settle(&self, session_id: &str) {
        let shard = self.inner.shards.of(session_id);
        let me = thread::current().id();
        let mut sessions = shard.sessions.recover();
        while let Some(session) = sessions.get(session_id)
            && session.delivering.is_some_and(|turn| turn.thread != me)
        {
            sessions = shard
                .moved_on
                .wait(sessions)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Flushes the session's sinks, durable one first, and returns the first error.
    ///
    /// # Errors
    /// What the sinks report; all of them are flushed in any case.
    pub async fn flush_session_sinks(&self, session_id: &str) -> Result<(), AgentEventSinkError> {
        self.settle(session_id);
        let sinks = self.inner.session_sinks(session_id);
        flush_all(&sinks).await
    }
}

/// What is being emitted.
#[expect(
    clippy::large_enum_variant,
    reason = "lives on the stack for one emission"
)]
enum Outgoing<'a> {
    Event(Cow<'a, AgentEvent>),
    Opaque(&'a OpaqueEvent),
}

impl Outgoing<'_> {
    fn session_id(&self) -> &str {
        match self {
            Self::Event(event) => event.session_id(),
            Self::Opaque(event) => event.session_id().unwrap_or_default(),
        }
    }

    fn into_payload(self) -> Payload {
        match self {
            Self::Event(event) => Payload::Event(Box::new(event.into_owned())),
            Self::Opaque(event) => Payload::Opaque(Box::new(event.clone())),
        }
    }

    fn delivery(&self, stamp: Stamp) -> Delivery<'_> {
        match self {
            Self::Event(event) => Delivery::Event(frame(event, stamp)),
            Self::Opaque(event) => Delivery::Opaque(event),
        }
    }
}

impl Payload {
    fn delivery(&self, stamp: Stamp) -> Delivery<'_> {
        match self {
            Self::Event(event) => Delivery::Event(frame(event, stamp)),
            Self::Opaque(event) => Delivery::Opaque(event),
        }
    }
}

fn frame(event: &AgentEvent, stamp: Stamp) -> EmissionFrame<'_> {
    let Stamp {
        sequence,
        emitted_at_ms,
        frame_depth,
    } = stamp;
    EmissionFrame {
        event,
        sequence,
        emitted_at_ms,
        frame_depth,
    }
}

/// Who sees one event, as of the moment its turn came.
struct Audience {
    durable: Option<Arc<Reader>>,
    sinks: Arc<Vec<Arc<Reader>>>,
    observers: Arc<Vec<Arc<Reader>>>,
    loop_sink: Option<Arc<dyn AgentEventSink>>,
}

/// The turn an emitter has taken, and what it has to deliver first.
struct Turn {
    generation: u64,
    stamp: Stamp,
    audience: Audience,
    skip_sinks: bool,
}

/// What an emission brings along from the task that made it.
struct Origin {
    loop_sink: Option<Arc<dyn AgentEventSink>>,
    frame_depth: Option<u32>,
    subscriber_depth: u32,
}

impl Inner {
    fn publish(&self, outgoing: Outgoing<'_>) {
        let task = self.ambient.current();
        let origin = Origin {
            loop_sink: task.as_ref().and_then(|task| task.loop_sink()),
            frame_depth: task.as_ref().and_then(|task| task.frame_depth()),
            subscriber_depth: task.as_ref().map_or(0, |task| task.subscriber_depth()),
        };
        if let Some((first, turn)) = self.take_turn(outgoing, origin) {
            self.deliver_turn(&first, turn);
        }
    }

    /// Fixes the event's place in the session's order. Hands it back with the
    /// turn if the caller has to deliver it, and `None` if somebody else will, or
    /// nobody listens.
    fn take_turn<'a>(
        &self,
        outgoing: Outgoing<'a>,
        origin: Origin,
    ) -> Option<(Outgoing<'a>, Turn)> {
        let session_id = outgoing.session_id();
        let observers = self.observers();
        let shard = self.shards.of(session_id);
        let mut sessions = shard.sessions.recover();
        let is_known = sessions
            .get(session_id)
            .is_some_and(|s| s.is_open || s.has_readers());
        if !is_known && observers.is_empty() && origin.loop_sink.is_none() {
            self.counters.unheard.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        sessions = self.wait_for_room(shard, sessions, session_id)?;

        let session = session::entry(&mut sessions, session_id, || self.next_id());
        let stamp = self.stamp(origin.frame_depth);
        let mut skip_sinks = false;
        if let Outgoing::Event(event) = &outgoing {
            skip_sinks = session.brackets.apply(event) == Admission::Duplicate;
            self.note_for_subscribers(session, event, origin.subscriber_depth);
        }
        let loop_sink = origin.loop_sink;
        let thread = thread::current().id();
        if let Some(turn) = session.delivering {
            let depth = if turn.thread == thread {
                turn.depth + 1
            } else {
                0
            };
            let payload = outgoing.into_payload();
            session.waiting.push_back(Waiting {
                payload,
                stamp,
                loop_sink,
                skip_sinks,
                depth,
            });
            return None;
        }
        session.delivering = Some(Delivering { thread, depth: 0 });
        let audience = audience(session, observers, loop_sink);
        let turn = Turn {
            generation: session.generation,
            stamp,
            audience,
            skip_sinks,
        };
        drop(sessions);
        Some((outgoing, turn))
    }

    /// Waits while the session is busy and its queue is full. A reader of the
    /// session cannot wait for itself, so it is refused instead (`None`).
    fn wait_for_room<'a>(
        &self,
        shard: &'a Shard,
        mut sessions: MutexGuard<'a, Sessions>,
        session_id: &str,
    ) -> Option<MutexGuard<'a, Sessions>> {
        loop {
            let Some(session) = sessions.get(session_id) else {
                return Some(sessions);
            };
            let Some(turn) = session.delivering else {
                return Some(sessions);
            };
            let is_full = session.waiting.len() >= self.config.waiting_events_max.max(1);
            let is_reader = turn.thread == thread::current().id();
            if is_reader && (is_full || turn.depth >= self.config.nesting_max) {
                self.counters.too_deep.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            if !is_full {
                return Some(sessions);
            }
            sessions = shard
                .moved_on
                .wait(sessions)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Delivers the first event of a turn and then whatever has queued up behind it.
    fn deliver_turn(&self, first: &Outgoing<'_>, turn: Turn) {
        let session_id = first.session_id();
        if !turn.skip_sinks {
            self.deliver(first.delivery(turn.stamp), &turn.audience);
        }
        while let Some((waiting, audience)) = self.next_waiting(session_id, turn.generation) {
            if !waiting.skip_sinks {
                self.deliver(waiting.payload.delivery(waiting.stamp), &audience);
            }
        }
    }

    /// The next event of the turn; `None` ends the turn.
    fn next_waiting(&self, session_id: &str, generation: u64) -> Option<(Waiting, Audience)> {
        let shard = self.shards.of(session_id);
        let mut sessions = shard.sessions.recover();
        let session = sessions
            .get_mut(session_id)
            .filter(|s| s.generation == generation)?;
        if session.waiting.len() >= self.config.waiting_events_max.max(1) {
            shard.moved_on.notify_all();
        }
        let Some(mut waiting) = session.waiting.pop_front() else {
            session.delivering = None;
            if session.is_closing || session.is_idle() {
                session::remove(&mut sessions, session_id);
            }
            shard.moved_on.notify_all();
            return None;
        };
        if let Some(turn) = &mut session.delivering {
            turn.depth = waiting.depth;
        }
        let loop_sink = waiting.loop_sink.take();
        Some((waiting, audience(session, self.observers(), loop_sink)))
    }

    fn deliver(&self, delivery: Delivery<'_>, audience: &Audience) {
        let readers = audience.durable.iter().chain(audience.sinks.iter());
        for reader in readers.chain(audience.observers.iter()) {
            self.count_panic(reader.deliver(delivery, self.config.panics_max));
        }
        if let Some(sink) = &audience.loop_sink {
            // A loop's own sink is never detached: the loop asked for it by name.
            let reader = Reader::new(0, Arc::clone(sink));
            self.count_panic(reader.deliver(delivery, u32::MAX));
        }
    }

    fn count_panic(&self, panicked: bool) {
        self.counters
            .panics
            .fetch_add(u64::from(panicked), Ordering::Relaxed);
    }

    fn note_for_subscribers(&self, session: &mut Session, event: &AgentEvent, depth: u32) {
        if session.subscribers.is_empty() {
            return;
        }
        if depth > self.config.nesting_max {
            self.subscriber_counters
                .too_deep
                .fetch_add(1, Ordering::Relaxed);
            return;
        }
        let events_max = self.config.subscriber_backlog_max;
        if session
            .backlog
            .push(depth, Arc::new(event.clone()), events_max)
        {
            self.subscriber_counters
                .dropped
                .fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Time and sequence of an emission. Called under the lock of the session's
    /// shard, so both rise in the order of the session's events.
    fn stamp(&self, frame_depth: Option<u32>) -> Stamp {
        let now = self.config.clock.now_ms();
        let emitted_at_ms = self.last_ms.fetch_max(now, Ordering::AcqRel).max(now);
        let sequence = self.next_sequence.fetch_add(1, Ordering::AcqRel);
        Stamp {
            sequence,
            emitted_at_ms,
            frame_depth,
        }
    }

    fn observers(&self) -> Arc<Vec<Arc<Reader>>> {
        Arc::clone(&self.observers.recover_read())
    }

    /// Durable sink first, then the others in registration order.
    pub(super) fn session_sinks(&self, session_id: &str) -> Vec<Arc<dyn AgentEventSink>> {
        let sessions = self.shards.lock(session_id);
        let Some(session) = sessions.get(session_id) else {
            return Vec::new();
        };
        let readers = session.durable.iter().chain(session.sinks.iter());
        readers.map(|reader| Arc::clone(&reader.sink)).collect()
    }
}

fn audience(
    session: &Session,
    observers: Arc<Vec<Arc<Reader>>>,
    loop_sink: Option<Arc<dyn AgentEventSink>>,
) -> Audience {
    Audience {
        durable: session.durable.clone(),
        sinks: Arc::clone(&session.sinks),
        observers,
        loop_sink,
    }
}
