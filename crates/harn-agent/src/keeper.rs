//! Writes what sessions do into the event log, without making them wait.
//!
//! ```text
//! journals ─┐
//!           ├─► queue ─► one thread ─► append_batch per topic ─► log
//! events ───┘                │
//! barrier ───────────────────┴──► told when everything before it is durable
//! ```
//!
//! A run hands over a record in well under a microsecond and takes a barrier where losing the
//! record would cost money or repeat a side effect. Records that pile up meanwhile are written
//! together, so a turn costs as many syncs as it takes barriers, not as it has events. For the
//! same reason nobody hurries while no barrier waits: with some logs every write is a sync.
//!
//! What cannot be written stays in the queue and is tried again with the next record or
//! barrier. A queue that is full refuses records at its door, before they have an index, so
//! that what is stored never has a gap.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use harn_events::{
    AgentEventLog, AgentEventSink, DurableSinks, EventLogSink, LogFailure, RedactionPolicy,
    SystemClock,
};
use harn_log::{AnyEventLog, EventLog, LogError, LogEvent, Topic, block_on};
use tokio::sync::oneshot;

use crate::event_log::{LoggedSessions, of_events};
use crate::join::{Joined, join};

/// Records that may wait to be written.
const QUEUE_RECORDS_MAX: usize = 65_536;

/// Records that are written without waiting for more.
const GATHERED_RECORDS_MAX: usize = 1024;

/// How long a record waits for others to be written with, if no barrier comes.
const GATHERING_TIME: Duration = Duration::from_millis(5);

/// Writes what sessions do into the event log.
pub struct Keeper {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    log: Arc<AnyEventLog>,
    queue: Mutex<Queue>,
    rung: Condvar,
}

#[derive(Default)]
struct Queue {
    records: VecDeque<(Topic, LogEvent)>,
    barriers: Vec<oneshot::Sender<Result<(), Arc<LogError>>>>,
    /// When the first of the records came.
    since: Option<Instant>,
    /// Somebody who does not wait wants the records to be durable.
    is_sync_wanted: bool,
    /// Records were taken from the queue and may not be in the log yet.
    is_writing: bool,
    /// Whether the last attempt to write failed. Nothing is tried again by itself: the next
    /// record or barrier does that.
    is_failing: bool,
    is_closed: bool,
}

/// Why a record was not taken.
#[derive(Debug, thiserror::Error)]
#[error("{QUEUE_RECORDS_MAX} records wait to be written, and the log does not take them")]
struct QueueFull;

/// The thread that writes has gone.
#[derive(Debug, thiserror::Error)]
#[error("the log has been closed")]
struct Closed;

impl Keeper {
    /// Keeps sessions in a log.
    pub fn new(log: Arc<AnyEventLog>) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::new(Shared {
                log,
                queue: Mutex::default(),
                rung: Condvar::new(),
            }),
            thread: Mutex::default(),
        })
    }

    /// The log it writes to.
    pub fn log(&self) -> &Arc<AnyEventLog> {
        &self.shared.log
    }

    /// Takes a record. It is written soon, after everything that was taken before.
    ///
    /// # Errors
    /// Too many wait already; this one is not among them.
    pub fn put(&self, topic: &Topic, record: LogEvent) -> Result<(), LogFailure> {
        self.start();
        let mut queue = self.shared.queue();
        if queue.records.len() >= QUEUE_RECORDS_MAX {
            return Err(QueueFull.into());
        }
        queue.records.push_back((topic.clone(), record));
        queue.is_failing = false;
        // Whoever gathers is woken by the first record and by one too many.
        let is_first = queue.since.is_none();
        if is_first {
            queue.since = Some(Instant::now());
        }
        let is_news = is_first || queue.records.len() == GATHERED_RECORDS_MAX;
        drop(queue);
        if is_news {
            self.shared.rung.notify_one();
        }
        Ok(())
    }

    /// Resolves when everything taken so far would survive a power cut.
    ///
    /// # Errors
    /// The log does not take it. It is tried again with the next record.
    pub async fn sync(&self) -> Result<(), LogFailure> {
        let (sender, receiver) = oneshot::channel();
        self.start();
        {
            let mut queue = self.shared.queue();
            queue.barriers.push(sender);
            queue.is_failing = false;
        }
        self.shared.rung.notify_one();
        match receiver.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Closed.into()),
        }
    }

    /// Starts the thread when it is first needed.
    fn start(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_some() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let name = "harn-keeper".to_owned();
        let started = std::thread::Builder::new()
            .name(name)
            .spawn(move || shared.run());
        match started {
            Ok(handle) => *thread = Some(handle),
            Err(error) => tracing::warn!(target: "agent.journal", %error, "nothing is written"),
        }
    }
}

impl Drop for Keeper {
    /// Writes what is left.
    fn drop(&mut self) {
        self.shared.queue().is_closed = true;
        self.shared.rung.notify_one();
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            let _a_panic_was_reported_there = thread.join();
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let mut queue = self.wait_for_work();
            let records = std::mem::take(&mut queue.records);
            let barriers = std::mem::take(&mut queue.barriers);
            let is_sync_wanted = std::mem::take(&mut queue.is_sync_wanted);
            queue.since = None;
            queue.is_writing = true;
            let is_closed = queue.is_closed;
            drop(queue);
            let written = self.write(records, is_sync_wanted || !barriers.is_empty());
            self.queue().is_writing = false;
            for barrier in barriers {
                let _whoever_waited_has_gone = barrier.send(written.clone());
            }
            if is_closed && self.queue().is_finished() {
                return;
            }
        }
    }

    /// Waits until there is something to write, and for more of it unless somebody is waiting.
    fn wait_for_work(&self) -> MutexGuard<'_, Queue> {
        let mut queue = self.queue();
        loop {
            let time = match queue.work() {
                Work::Now => return queue,
                Work::At(time) => time.saturating_duration_since(Instant::now()),
                Work::Nothing => {
                    let rung = self.rung.wait(queue);
                    queue = rung.unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            if time.is_zero() {
                return queue;
            }
            let rung = self.rung.wait_timeout(queue, time);
            queue = rung.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes records; those that cannot be written go back to the front of the queue.
    ///
    /// The batches are handed over together, so that a log can commit them together.
    fn write(
        &self,
        records: VecDeque<(Topic, LogEvent)>,
        durably: bool,
    ) -> Result<(), Arc<LogError>> {
        let batches = by_topic(records);
        let appending = batches
            .iter()
            .map(|(topic, events)| Box::pin(self.append(topic, events)) as Joined<'_, _>);
        let appended = block_on(join(appending.collect()));
        let mut unwritten = VecDeque::new();
        let mut failure = None;
        for ((topic, events), outcome) in batches.into_iter().zip(appended) {
            if let Err(error) = outcome {
                failure.get_or_insert(error);
                unwritten.extend(events.into_iter().map(|one| (topic.clone(), one)));
            }
        }
        if let Some(error) = failure {
            self.put_back(unwritten, &error);
            return Err(Arc::new(error));
        }
        match durably {
            true => block_on(self.log.barrier()).map_err(Arc::new),
            false => Ok(()),
        }
    }

    /// Appends, and once more if an earlier failure has only to be looked at: the disk may
    /// have room again.
    async fn append(&self, topic: &Topic, events: &[LogEvent]) -> Result<(), LogError> {
        match self.log.append_batch(topic, events.to_vec()).await {
            Err(LogError::Poisoned(_)) => {}
            other => return other.map(drop),
        }
        self.log.recover().await?;
        let again = self.log.append_batch(topic, events.to_vec()).await;
        again.map(drop)
    }

    fn put_back(&self, mut unwritten: VecDeque<(Topic, LogEvent)>, error: &LogError) {
        let mut queue = self.queue();
        unwritten.append(&mut queue.records);
        queue.records = unwritten;
        queue.since = Some(Instant::now());
        if !std::mem::replace(&mut queue.is_failing, true) {
            let waiting = queue.records.len();
            tracing::warn!(target: "agent.journal", %error, waiting, "records cannot be written");
        }
    }
}

impl Queue {
    fn work(&self) -> Work {
        if !self.barriers.is_empty() || self.is_closed {
            return Work::Now;
        }
        match self.since {
            _ if self.is_failing => Work::Nothing,
            _ if self.records.is_empty() && !self.is_sync_wanted => Work::Nothing,
            Some(since) if self.records.len() < GATHERED_RECORDS_MAX => {
                Work::At(since + GATHERING_TIME)
            }
            _ => Work::Now,
        }
    }

    /// Whether a topic has records that are not in the log, or may have.
    fn has_unwritten(&self, topic: &str) -> bool {
        let mut topics = self.records.iter().map(|(topic, _)| topic.as_str());
        self.is_writing || topics.any(|waiting| waiting == topic)
    }

    /// Whether nothing more can be done for what is left.
    fn is_finished(&self) -> bool {
        self.records.is_empty() || self.is_failing
    }
}

/// When there is something to write.
enum Work {
    Now,
    At(Instant),
    Nothing,
}

/// The records of each topic together. Order matters inside a topic only: what belongs
/// together across topics says so itself.
fn by_topic(records: VecDeque<(Topic, LogEvent)>) -> Vec<(Topic, Vec<LogEvent>)> {
    let mut batches: Vec<(Topic, Vec<LogEvent>)> = Vec::new();
    for (topic, record) in records {
        match batches.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, batch)) => batch.push(record),
            None => batches.push((topic, vec![record])),
        }
    }
    batches
}

impl AgentEventLog for Keeper {
    fn append(&self, topic: &str, record: harn_events::LogEvent) -> Result<(), LogFailure> {
        self.put(&Topic::new(topic)?, of_events(record))
    }

    fn latest_of(
        &self,
        topic: &str,
        session_id: &str,
    ) -> Result<Option<harn_events::LogEvent>, LogFailure> {
        let is_behind = self.shared.queue().has_unwritten(topic);
        if is_behind {
            block_on(self.sync())?;
        }
        LoggedSessions::new(Arc::clone(&self.shared.log)).latest_of(topic, session_id)
    }

    /// With what is being gathered: nobody waits.
    fn sync_soon(&self) {
        self.start();
        let mut queue = self.shared.queue();
        queue.is_sync_wanted = true;
        queue.since.get_or_insert_with(Instant::now);
        drop(queue);
        self.shared.rung.notify_one();
    }

    fn barrier(&self) -> Pin<Box<dyn Future<Output = Result<(), LogFailure>> + Send + '_>> {
        Box::pin(self.sync())
    }
}

/// The durable sinks of sessions that are kept.
pub struct KeptSessions(pub Arc<Keeper>);

impl DurableSinks for KeptSessions {
    fn open(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        let log = Arc::clone(&self.0) as Arc<dyn AgentEventLog>;
        let (redaction, clock) = (redaction.clone(), Arc::new(SystemClock));
        Ok(EventLogSink::with_policy(log, session_id, redaction, clock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_log::MemoryEventLog;
    use serde_json::json;

    fn keeper() -> Arc<Keeper> {
        Keeper::new(Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16))))
    }

    fn numbers(log: &AnyEventLog, topic: &Topic) -> Vec<u64> {
        let records = block_on(log.read_range(topic, None, usize::MAX)).unwrap();
        let numbers = records.iter().map(|(_, record)| record.payload.as_u64());
        numbers.map(Option::unwrap).collect()
    }

    #[test]
    fn records_keep_their_order_and_a_barrier_covers_them() {
        let keeper = keeper();
        let topics = ["a", "b"].map(|name| Topic::new(name).unwrap());
        for number in 0..500_u64 {
            let topic = &topics[usize::from(number % 3 == 0)];
            keeper
                .put(topic, LogEvent::new("n", json!(number)))
                .unwrap();
        }
        block_on(keeper.sync()).unwrap();
        let [a, b] = topics.map(|topic| numbers(keeper.log(), &topic));
        assert!(a.is_sorted() && b.is_sorted());
        assert_eq!(a.len() + b.len(), 500);
    }

    #[test]
    fn what_is_left_is_written_at_the_end() {
        let keeper = keeper();
        let log = Arc::clone(keeper.log());
        let topic = Topic::new("a").unwrap();
        keeper.put(&topic, LogEvent::new("n", json!(7))).unwrap();
        drop(keeper);
        assert_eq!(numbers(&log, &topic), [7]);
    }
}
