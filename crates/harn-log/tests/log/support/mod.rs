//! What the tests of a log share: waiting with a limit, and a log whose methods block.

#![allow(dead_code, reason = "each test program takes what it needs")]

#[cfg(feature = "nats")]
pub(crate) mod nats_server;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use futures_core::Stream;
use harn_log::{
    AppendOutcome, CompactForce, CompactReport, ConsumerId, Draft, EventId, EventLog,
    EventLogVerificationReport, EventStream, LogError, LogEvent, LogEventBytes, PREV_HASH_HEADER,
    RECORD_HASH_HEADER, Result, SCHEMA_HEADER, Topic,
};
use serde_json::json;

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A record and its id.
pub(crate) type Record = (EventId, LogEvent);

/// A waker that can be waited for.
pub(crate) struct Bell {
    rung: Receiver<()>,
    pub(crate) waker: Waker,
}

struct Ringer(SyncSender<()>);

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        match self.0.try_send(()) {
            // It rings already, or nobody listens any more.
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
        }
    }
}

impl Bell {
    pub(crate) fn new() -> Self {
        let (ringer, rung) = mpsc::sync_channel(1);
        let waker = Waker::from(Arc::new(Ringer(ringer)));
        Self { rung, waker }
    }

    /// Waits until somebody wakes.
    #[track_caller]
    pub(crate) fn wait(&self) {
        self.rung.recv_timeout(LIMIT).expect("somebody should wake");
    }
}

/// Runs a future here. It is polled again only when it was woken: a lost wake-up
/// fails the test instead of hanging it.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Bell::new();
    let mut context = Context::from_waker(&bell.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        bell.wait();
    }
}

/// Runs something that might block for ever on a thread of its own.
#[track_caller]
pub(crate) fn within_limit<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    let result = result.recv_timeout(LIMIT);
    result.expect("it should neither hang nor panic")
}

/// What a stream has right now.
#[track_caller]
pub(crate) fn poll_with(stream: &mut EventStream, waker: &Waker) -> Option<Record> {
    match Pin::new(stream).poll_next(&mut Context::from_waker(waker)) {
        Poll::Pending => None,
        Poll::Ready(item) => Some(record(item)),
    }
}

/// The next record of a stream, when it comes.
#[track_caller]
pub(crate) fn next(stream: &mut EventStream) -> Record {
    record(block_on(poll_fn(|context| {
        Pin::new(&mut *stream).poll_next(context)
    })))
}

/// The ids of the next records of a stream.
#[track_caller]
pub(crate) fn next_ids(stream: &mut EventStream, count: usize) -> Vec<EventId> {
    (0..count).map(|_| next(stream).0).collect()
}

#[track_caller]
fn record(item: Option<std::result::Result<Record, LogError>>) -> Record {
    let item = item.expect("a subscription does not end");
    item.expect("a subscription is never cut off")
}

/// A log whose methods block. Those that tests expect to succeed do so or panic.
pub(crate) struct Driver<L>(pub(crate) Arc<L>);

impl<L> Clone for Driver<L> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<L: EventLog + 'static> Driver<L> {
    #[track_caller]
    pub(crate) fn append(&self, topic: &Topic, event: LogEvent) -> EventId {
        block_on(self.0.append(topic, event)).expect("an append succeeds")
    }

    /// Appends events that say 1, 2, 3, …
    #[track_caller]
    pub(crate) fn append_numbers(&self, topic: &Topic, count: u64) {
        for number in 1..=count {
            self.append(topic, event(number));
        }
    }

    #[track_caller]
    pub(crate) fn append_batch(&self, topic: &Topic, events: Vec<LogEvent>) -> Vec<EventId> {
        block_on(self.0.append_batch(topic, events)).expect("a batch succeeds")
    }

    #[track_caller]
    pub(crate) fn append_once(
        &self,
        topic: &Topic,
        (header, value): (&str, &str),
        event: LogEvent,
    ) -> AppendOutcome {
        let appended = self
            .0
            .append_idempotent_by_header(topic, header, value, event);
        block_on(appended).expect("an idempotent append succeeds")
    }

    pub(crate) fn append_chained(
        &self,
        topic: &Topic,
        (header, value): (&str, &str),
        expected_head: Option<&str>,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        block_on(self.0.append_idempotent_chained_by_header(
            topic,
            header,
            value,
            expected_head,
            event,
        ))
    }

    #[track_caller]
    pub(crate) fn find(&self, topic: &Topic, (header, value): (&str, &str)) -> Option<Record> {
        let found = self.0.read_idempotent_by_header(topic, header, value);
        block_on(found).expect("a look-up succeeds")
    }

    #[track_caller]
    pub(crate) fn read(&self, topic: &Topic, from: Option<EventId>, limit: usize) -> Vec<Record> {
        block_on(self.0.read_range(topic, from, limit)).expect("reading succeeds")
    }

    #[track_caller]
    pub(crate) fn read_all(&self, topic: &Topic) -> Vec<Record> {
        self.read(topic, None, usize::MAX)
    }

    #[track_caller]
    pub(crate) fn ids(&self, topic: &Topic, from: Option<EventId>, limit: usize) -> Vec<EventId> {
        let records = self.read(topic, from, limit);
        records.into_iter().map(|(id, _)| id).collect()
    }

    #[track_caller]
    pub(crate) fn read_bytes(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> Vec<(EventId, LogEventBytes)> {
        block_on(self.0.read_range_bytes(topic, from, limit)).expect("reading succeeds")
    }

    #[track_caller]
    pub(crate) fn latest(&self, topic: &Topic) -> Option<EventId> {
        block_on(self.0.latest(topic)).expect("the head can be read")
    }

    #[track_caller]
    pub(crate) fn subscribe(&self, topic: &Topic, from: Option<EventId>) -> EventStream {
        block_on(Arc::clone(&self.0).subscribe(topic, from)).expect("subscribing succeeds")
    }

    pub(crate) fn ack(&self, topic: &Topic, consumer: &ConsumerId, to: EventId) -> Result<()> {
        block_on(self.0.ack(topic, consumer, to))
    }

    pub(crate) fn rewind(&self, topic: &Topic, consumer: &ConsumerId, to: EventId) -> Result<()> {
        block_on(self.0.rewind(topic, consumer, to))
    }

    #[track_caller]
    pub(crate) fn cursor(&self, topic: &Topic, consumer: &ConsumerId) -> Option<EventId> {
        block_on(self.0.consumer_cursor(topic, consumer)).expect("a cursor can be read")
    }

    pub(crate) fn compact(
        &self,
        topic: &Topic,
        before: EventId,
        force: CompactForce,
    ) -> Result<CompactReport> {
        block_on(self.0.compact(topic, before, force))
    }

    /// Compacts a topic that no consumer holds back.
    #[track_caller]
    pub(crate) fn compact_read(&self, topic: &Topic, before: EventId) -> CompactReport {
        let report = self.compact(topic, before, CompactForce::Respect);
        report.expect("nobody is behind")
    }

    #[track_caller]
    pub(crate) fn verify(&self, topic: &Topic) -> EventLogVerificationReport {
        block_on(self.0.verify_topic(topic)).expect("a topic can be verified")
    }

    #[track_caller]
    pub(crate) fn topics(&self) -> Vec<String> {
        let topics = block_on(self.0.topics()).expect("topics can be listed");
        topics.iter().map(ToString::to_string).collect()
    }
}

pub(crate) fn topic(name: &str) -> Topic {
    Topic::new(name).expect("a plain name")
}

pub(crate) fn consumer(name: &str) -> ConsumerId {
    ConsumerId::new(name).expect("a name")
}

/// An event on its way to a topic.
pub(crate) fn draft(topic: &Topic, event: LogEvent) -> Draft {
    Draft::new(topic, event).unwrap()
}

/// An event that says a number.
pub(crate) fn event(number: u64) -> LogEvent {
    LogEvent::at("number", json!({ "n": number }), 1_000)
}

/// The number an event says.
#[track_caller]
pub(crate) fn number(event: &LogEvent) -> u64 {
    event.payload["n"].as_u64().expect("it says a number")
}

/// The event as it was before the log added its provenance.
pub(crate) fn without_provenance(mut event: LogEvent) -> LogEvent {
    for header in [SCHEMA_HEADER, PREV_HASH_HEADER, RECORD_HASH_HEADER] {
        event.headers.remove(header);
    }
    event
}

/// The hash a stored record carries.
#[track_caller]
pub(crate) fn hash(event: &LogEvent) -> &str {
    let hash = event.headers.get(RECORD_HASH_HEADER);
    hash.expect("a stored record has a hash")
}
