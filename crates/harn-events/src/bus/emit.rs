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
//! that finds its session busy returns at once; it does not wait for the delivery,
//! because the reader that is running may be waiting for it. Only a full queue
//! makes an emitter wait, and never one that is a reader itself.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use super::nesting::Nested;
use super::reader::{Delivery, Reader};
use super::session::{self, Closing, Payload, Session, Sessions, Shard, Stamp, Waiting};
use super::{EventBus, Inner};
use crate::ambient::EmissionFacts;
use crate::brackets::Admission;
use crate::event::AgentEvent;
use crate::lock::RecoverShared;
use crate::record::OpaqueEvent;
use crate::sink::{AgentEventSink, AgentEventSinkError, EmissionFrame, flush_all};

impl EventBus {
    /// Delivers an event to the sinks of its session, to the observers of all
    /// sessions and to the running loop's sink; closures see it at the next point
    /// where they can be awaited.
    ///
    /// When it returns, all of them have seen the event, with one exception: while
    /// another thread, or this very thread further up, is delivering for the same
    /// session, the event waits its turn there and is delivered right after.
    pub fn emit(&self, event: &AgentEvent) {
        self.inner.counters.emitted.fetch_add(1, Ordering::Relaxed);
        if self.inner.enter_unread(event) {
            return;
        }
        let policy = self.redaction_policy();
        let event = policy.redact_event(event);
        self.inner
            .publish(Outgoing::Event(&event), Admit::WhileOpen);
    }

    /// Whether anybody would see an event that this task emits for the session now. What is
    /// large and read by nobody need not be put together.
    pub fn has_readers(&self, session_id: &str) -> bool {
        if self.inner.has_readers_of_all() {
            return true;
        }
        let sessions = self.inner.shards.lock(session_id);
        let session = sessions.get(session_id);
        session.is_some_and(|session| session.has_readers())
    }

    /// The index of the newest event of a session that is kept; `None` while nothing was kept
    /// since the session was opened here.
    pub fn newest_index(&self, session_id: &str) -> Option<u64> {
        self.inner.newest_index(session_id)
    }

    /// Like [`emit`](Self::emit), and awaits the session's closures. If another
    /// task is delivering to them already, that task delivers this event too.
    pub async fn emit_and_await(&self, event: &AgentEvent) {
        self.emit(event);
        self.deliver_to_subscribers(event.session_id()).await;
    }

    /// Delivers a record that this version does not understand, to the sinks that
    /// ask for such records. One without a session reaches the observers alone.
    pub fn emit_opaque(&self, event: &OpaqueEvent) {
        self.inner.counters.emitted.fetch_add(1, Ordering::Relaxed);
        let redacted = event.redacted(&self.redaction_policy());
        let event = redacted.as_ref().unwrap_or(event);
        match event.session_id() {
            Some(_) => self
                .inner
                .publish(Outgoing::Opaque(event), Admit::WhileOpen),
            None => self.inner.show_observers(event),
        }
    }

    /// Emits an event that belongs to the end of a session that is closing.
    pub(super) fn emit_at_close(&self, event: &AgentEvent) {
        self.inner.counters.emitted.fetch_add(1, Ordering::Relaxed);
        let policy = self.redaction_policy();
        let event = policy.redact_event(event);
        self.inner.publish(Outgoing::Event(&event), Admit::AtClose);
    }

    /// Waits until everything emitted for the session so far has been delivered.
    /// Returns at once when called by a reader, which others may be waiting for.
    pub fn settle(&self, session_id: &str) {
        if self.inner.nesting.is_inside() {
            return;
        }
        let shard = self.inner.shards.of(session_id);
        let mut sessions = shard.lock();
        let Some(session) = sessions.get(session_id) else {
            return;
        };
        let (generation, emitted) = (session.generation, session.emitted);
        let is_behind =
            |session: &Session| session.generation == generation && session.delivered < emitted;
        while sessions
            .get(session_id)
            .is_some_and(|session| is_behind(session))
        {
            sessions = shard.wait(sessions);
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

/// Which events a session takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Admit {
    /// The session must not be closing.
    WhileOpen,
    /// The event is part of the session's end.
    AtClose,
}

/// What is being emitted.
#[derive(Clone, Copy)]
enum Outgoing<'a> {
    Event(&'a AgentEvent),
    Opaque(&'a OpaqueEvent),
}

impl<'a> Outgoing<'a> {
    fn session_id(self) -> &'a str {
        match self {
            Self::Event(event) => event.session_id(),
            Self::Opaque(event) => event.session_id().unwrap_or_default(),
        }
    }

    fn to_payload(self) -> Payload {
        match self {
            Self::Event(event) => Payload::Event(Box::new(event.clone())),
            Self::Opaque(event) => Payload::Opaque(Box::new(event.clone())),
        }
    }

    fn delivery(self, stamp: Stamp) -> Delivery<'a> {
        match self {
            Self::Event(event) => Delivery::Event(frame(event, stamp)),
            Self::Opaque(event) => Delivery::Opaque(event, stamp.emitted_at_ms),
        }
    }
}

impl Payload {
    fn outgoing(&self) -> Outgoing<'_> {
        match self {
            Self::Event(event) => Outgoing::Event(event),
            Self::Opaque(event) => Outgoing::Opaque(event),
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
        kept: None,
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
    facts: EmissionFacts,
    /// How many deliveries deep the thread is.
    depth: u32,
    admit: Admit,
}

/// Whether anybody would see this. A session that closes takes nothing but its end.
fn is_heard(session: Option<&Session>, admit: Admit, has_others: bool) -> bool {
    match session {
        Some(session) if session.closing != Closing::No && admit == Admit::WhileOpen => false,
        Some(session) => has_others || session.is_kept() || session.has_readers(),
        None => has_others,
    }
}

impl Inner {
    fn publish(&self, outgoing: Outgoing<'_>, admit: Admit) {
        let Some(nested) = self.nesting.descend(self.config.nesting_max) else {
            self.counters.too_deep.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let origin = Origin {
            facts: self.ambient.emission_facts(),
            depth: nested.depth,
            admit,
        };
        if let Some(turn) = self.take_turn(outgoing, origin) {
            self.deliver_turn(outgoing, turn, &nested);
        }
    }

    /// Enters an event into the account of its session if nobody would see it: that needs no
    /// copy without secrets, no place in the queue and no turn. Says whether it has.
    fn enter_unread(&self, event: &AgentEvent) -> bool {
        if self.has_readers_of_all() {
            return false;
        }
        let mut sessions = self.shards.lock(event.session_id());
        let session = sessions.get_mut(event.session_id());
        let is_unread = |session: &&mut Box<Session>| {
            session.is_kept()
                && session.closing == Closing::No
                && !session.is_delivering
                && !session.has_readers()
        };
        let Some(session) = session.filter(is_unread) else {
            return false;
        };
        if session.brackets.apply(event) == Admission::Stale {
            self.counters.stale.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        self.next_sequence.fetch_add(1, Ordering::AcqRel);
        session.emitted += 1;
        session.delivered += 1;
        true
    }

    /// Whether somebody sees what this task emits, whichever session it is of.
    fn has_readers_of_all(&self) -> bool {
        !self.observers.recover_read().is_empty() || self.ambient.has_loop_sink()
    }

    /// Fixes the event's place in the session's order. `None` if somebody else
    /// delivers it, or nobody listens.
    fn take_turn(&self, outgoing: Outgoing<'_>, origin: Origin) -> Option<Turn> {
        let session_id = outgoing.session_id();
        let observers = self.observers();
        let shard = self.shards.of(session_id);
        let has_others = !observers.is_empty() || origin.facts.loop_sink.is_some();
        let mut sessions = self.wait_for_room(shard, session_id, &origin, has_others)?;
        let session = session::entry(&mut sessions, session_id, || self.next_id());
        let Origin { facts, depth, .. } = origin;
        let skip_sinks = self.admit(session, outgoing, facts.subscriber_depth)?;
        let stamp = self.stamp(facts.frame_depth);
        session.emitted += 1;
        let loop_sink = facts.loop_sink;
        if session.is_delivering {
            let payload = outgoing.to_payload();
            session.waiting.push_back(Waiting {
                payload,
                stamp,
                loop_sink,
                skip_sinks,
                depth,
            });
            return None;
        }
        session.is_delivering = true;
        let audience = audience(session, observers, loop_sink);
        Some(Turn {
            generation: session.generation,
            stamp,
            audience,
            skip_sinks,
        })
    }

    /// Enters the event into the session's account and notes it for its closures.
    /// Says whether sinks have seen the like before, and `None` if nobody is to see it.
    fn admit(&self, session: &mut Session, outgoing: Outgoing<'_>, depth: u32) -> Option<bool> {
        let Outgoing::Event(event) = outgoing else {
            return Some(false);
        };
        let skip_sinks = match session.brackets.apply(event) {
            Admission::New => false,
            Admission::Duplicate => true,
            Admission::Stale => {
                self.counters.stale.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        self.note_for_subscribers(session, event, depth);
        Some(skip_sinks)
    }

    /// Waits while the session is busy and its queue is full; `None` if nobody listens. A reader
    /// cannot wait: whoever would make room may be waiting for it. It is refused instead.
    fn wait_for_room<'a>(
        &self,
        shard: &'a Shard,
        session_id: &str,
        origin: &Origin,
        has_others: bool,
    ) -> Option<MutexGuard<'a, Sessions>> {
        let queue_max = self.config.waiting_events_max.max(1);
        let is_full =
            |session: &Session| session.is_delivering && session.waiting.len() >= queue_max;
        let mut sessions = shard.lock();
        loop {
            // The session may end while its queue is full, so it is asked again each time.
            let session = sessions.get(session_id).map(|session| &**session);
            if !is_heard(session, origin.admit, has_others) {
                self.counters.unheard.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            if !session.is_some_and(is_full) {
                return Some(sessions);
            }
            if origin.depth > 0 {
                self.counters.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            sessions = shard.wait(sessions);
        }
    }

    /// Delivers the first event of a turn and then whatever has queued up behind it.
    fn deliver_turn(&self, first: Outgoing<'_>, turn: Turn, nested: &Nested<'_>) {
        let session_id = first.session_id();
        if !turn.skip_sinks {
            self.deliver(first.delivery(turn.stamp), &turn.audience);
        }
        // A sink goes with its session, and may hold a lock on its file: nothing of it
        // may be left here when the session is removed.
        drop(turn.audience);
        while let Some((waiting, audience)) = self.next_waiting(session_id, turn.generation) {
            nested.set(waiting.depth.max(nested.depth));
            if !waiting.skip_sinks {
                self.deliver(
                    waiting.payload.outgoing().delivery(waiting.stamp),
                    &audience,
                );
            }
        }
    }

    /// The next event of the turn; `None` ends the turn.
    fn next_waiting(&self, session_id: &str, generation: u64) -> Option<(Waiting, Audience)> {
        let shard = self.shards.of(session_id);
        let mut sessions = shard.lock();
        shard.notify();
        let session = sessions
            .get_mut(session_id)
            .filter(|session| session.generation == generation)?;
        session.delivered += 1;
        let Some(mut waiting) = session.waiting.pop_front() else {
            session.is_delivering = false;
            let is_over = session.is_over() || session.is_idle();
            let removed = is_over.then(|| session::remove(&mut sessions, session_id));
            drop(sessions);
            self.discard(removed.flatten());
            return None;
        };
        let loop_sink = waiting.loop_sink.take();
        Some((waiting, audience(session, self.observers(), loop_sink)))
    }

    /// Drops a session that is over, without a lock: a sink may sync its file when
    /// it goes, or emit. What its closures have not seen they never will.
    pub(super) fn discard(&self, session: Option<Box<Session>>) {
        let unseen = session.as_ref().map_or(0, |session| session.backlog.len());
        let dropped = &self.subscriber_counters.dropped;
        dropped.fetch_add(unseen as u64, Ordering::Relaxed);
        drop(session);
    }

    fn deliver(&self, mut delivery: Delivery<'_>, audience: &Audience) {
        if let Some(durable) = &audience.durable {
            let before = durable.sink.newest_index();
            self.count_panic(durable.deliver(delivery, self.config.panics_max));
            delivery.note_kept(before, durable.sink.newest_index());
        }
        for reader in audience.sinks.iter().chain(audience.observers.iter()) {
            self.count_panic(reader.deliver(delivery, self.config.panics_max));
        }
        if let Some(sink) = &audience.loop_sink {
            // A loop's own sink is never detached: the loop asked for it by name.
            self.count_panic(delivery.hand_to(&**sink).is_err());
        }
    }

    /// Delivers a record that belongs to no session.
    fn show_observers(&self, event: &OpaqueEvent) {
        let delivery = Delivery::Opaque(event, self.stamp(None).emitted_at_ms);
        for reader in self.observers().iter() {
            self.count_panic(reader.deliver(delivery, self.config.panics_max));
        }
    }

    fn count_panic(&self, panicked: bool) {
        self.counters
            .panics
            .fetch_add(u64::from(panicked), Ordering::Relaxed);
    }

    fn note_for_subscribers(&self, session: &mut Session, event: &AgentEvent, depth: u32) {
        let Some(youngest) = session.subscribers.last() else {
            return;
        };
        if depth > self.config.nesting_max {
            self.subscriber_counters
                .too_deep
                .fetch_add(1, Ordering::Relaxed);
            return;
        }
        let events_max = self.config.subscriber_backlog_max;
        let event = Arc::new(event.clone());
        if session.backlog.push(event, depth, youngest, events_max) {
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

    /// The index of the newest event of a session that is kept, as far as its durable sink
    /// has taken any since the session was opened.
    pub(super) fn newest_index(&self, session_id: &str) -> Option<u64> {
        let durable = self
            .shards
            .lock(session_id)
            .get(session_id)?
            .durable
            .clone();
        durable?.sink.newest_index()
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
