//! A log that lives as long as the process.
//!
//! It keeps every promise of [`EventLog`] but the one that needs a disk, which
//! makes it the measure for the backends that have one.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use serde_json::Value;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::{
    AppendOutcome, CompactForce, CompactReport, EventLog, EventLogDescription, LogHealth, Result,
    check_key,
};
use crate::name::{ConsumerId, EventId, Topic};
use crate::owner::Owners;
use crate::provenance::{EventLogVerificationReport, Link, RECORD_HASH_HEADER, Verifier};
use crate::record::Draft;
use crate::stream::EventStream;

/// A volatile log.
pub struct MemoryEventLog {
    topics: Mutex<BTreeMap<Topic, Arc<TopicLog>>>,
    queue_depth: usize,
    next_reader: AtomicU64,
    owners: Arc<Owners>,
}

impl MemoryEventLog {
    /// A log without topics. Readers take up to `queue_depth` records at once.
    pub fn new(queue_depth: usize) -> Arc<Self> {
        Arc::new(Self {
            topics: Mutex::default(),
            queue_depth: queue_depth.max(1),
            next_reader: AtomicU64::new(1),
            owners: Owners::here(),
        })
    }

    /// Who writes what.
    pub(crate) fn owners(&self) -> &Arc<Owners> {
        &self.owners
    }

    /// The topic, if it has ever been written to, read along or acknowledged.
    fn known(&self, topic: &Topic) -> Option<Arc<TopicLog>> {
        recover(&self.topics).get(topic).cloned()
    }

    /// What `read` finds in the topic; looking at a topic does not make it.
    fn look<T: Default>(&self, topic: &Topic, read: impl FnOnce(&mut TopicState) -> T) -> T {
        let Some(log) = self.known(topic) else {
            return T::default();
        };
        let mut state = recover(&log.state);
        read(&mut state)
    }

    /// Forgets a topic that holds nothing and that nobody else has in hand.
    fn prune(&self, log: &Arc<TopicLog>) {
        let mut topics = recover(&self.topics);
        // One reference is the map's and one the caller's; others come from the map,
        // which is locked.
        let is_unused = Arc::strong_count(log) <= 2 && recover(&log.state).is_blank();
        if is_unused {
            topics.remove(&log.topic);
        }
    }

    /// The topic, made if it is not there.
    fn topic(&self, topic: &Topic) -> Arc<TopicLog> {
        let mut topics = recover(&self.topics);
        let log = topics.entry(topic.clone());
        Arc::clone(log.or_insert_with(|| Arc::new(TopicLog::new(topic.clone()))))
    }
}

/// One topic.
struct TopicLog {
    topic: Topic,
    state: Mutex<TopicState>,
}

#[derive(Default)]
struct TopicState {
    records: VecDeque<(EventId, LogEvent)>,
    /// Newest id ever assigned.
    head: EventId,
    /// Hash of the newest record ever appended.
    last_hash: Option<String>,
    /// The last record that compaction took, and its hash.
    anchor: Option<(EventId, Option<String>)>,
    cursors: BTreeMap<ConsumerId, EventId>,
    /// Records that can be found by a header. Built for a header when somebody
    /// first asks for it.
    keys: HashMap<String, HashMap<String, VecDeque<EventId>>>,
    /// Readers that wait for the next record.
    waiting: BTreeMap<ReaderId, Waker>,
}

impl TopicLog {
    fn new(topic: Topic) -> Self {
        Self {
            topic,
            state: Mutex::default(),
        }
    }

    /// Changes the topic and wakes its readers if there is anything new for them,
    /// once the lock is released.
    fn change<T>(&self, change: impl FnOnce(&mut TopicState) -> T) -> T {
        let mut state = recover(&self.state);
        let head = state.head;
        let outcome = change(&mut state);
        let woken = match state.head > head {
            true => std::mem::take(&mut state.waiting),
            false => BTreeMap::new(),
        };
        drop(state);
        woken.into_values().for_each(Waker::wake);
        outcome
    }

    fn append_new(&self, state: &mut TopicState, (draft, payload): (Draft, Value)) -> EventId {
        let id = state.head + 1;
        let sealed = draft.seal(id, state.last_hash.as_deref());
        let event = sealed.event_with(payload);
        let hash = sealed.hash().to_owned();
        for (header, values) in &mut state.keys {
            if let Some(value) = event.headers.get(header) {
                values.entry(value.clone()).or_default().push_back(id);
            }
        }
        state.head = id;
        state.last_hash = Some(hash);
        state.records.push_back((id, event));
        id
    }

    fn append_once(
        &self,
        header: &str,
        value: &str,
        event: LogEvent,
        may_append: impl FnOnce(&TopicState) -> Result<()>,
    ) -> Result<AppendOutcome> {
        let draft = Draft::split(&self.topic, event.with_header(header, value))?;
        self.change(|state| {
            if let Some((event_id, event)) = state.find(header, value) {
                return Ok(AppendOutcome {
                    event_id,
                    event,
                    inserted: false,
                });
            }
            may_append(state)?;
            let event_id = self.append_new(state, draft);
            let (_, event) = state.records.back().cloned().expect("it was just appended");
            Ok(AppendOutcome {
                event_id,
                event,
                inserted: true,
            })
        })
    }

    fn compact(&self, before: EventId, force: CompactForce) -> Result<CompactReport> {
        self.change(|state| {
            let before = before.min(state.head);
            let lowest = state.cursors.iter().min_by_key(|(_, cursor)| **cursor);
            let behind = lowest.filter(|(_, cursor)| **cursor < before);
            if let (Some((consumer, cursor)), CompactForce::Respect) = (behind, force) {
                return Err(LogError::CompactionBlocked {
                    topic: self.topic.to_string(),
                    before,
                    consumer: consumer.to_string(),
                    cursor: *cursor,
                });
            }
            let kept = state.records.partition_point(|(id, _)| *id <= before);
            let removed: Vec<_> = state.records.drain(..kept).collect();
            if let Some((id, last)) = removed.last() {
                let hash = last.headers.get(RECORD_HASH_HEADER).cloned();
                state.anchor = Some((*id, hash));
            }
            for (_, event) in &removed {
                state.release_keys(event);
            }
            Ok(CompactReport {
                removed: removed.len() as u64,
                remaining: state.records.len() as u64,
                latest: state.latest(),
                checkpointed: false,
            })
        })
    }

    /// Moves a consumer, if what it claims to have read exists.
    fn move_cursor(
        &self,
        consumer: &ConsumerId,
        to: EventId,
        choose: impl FnOnce(EventId, EventId) -> EventId,
    ) -> Result<()> {
        self.change(|state| {
            if to > state.head {
                return Err(LogError::CursorBeyondHead {
                    topic: self.topic.to_string(),
                    consumer: consumer.to_string(),
                    cursor: to,
                    head: state.head,
                });
            }
            let cursor = state.cursors.entry(consumer.clone()).or_insert(to);
            *cursor = choose(*cursor, to);
            Ok(())
        })
    }
}

impl TopicState {
    fn is_blank(&self) -> bool {
        self.head == 0 && self.cursors.is_empty() && self.waiting.is_empty()
    }

    fn latest(&self) -> Option<EventId> {
        (self.head > 0).then_some(self.head)
    }

    fn read_after(&self, from: EventId, limit: usize) -> Vec<(EventId, LogEvent)> {
        let start = self.records.partition_point(|(id, _)| *id <= from);
        self.records.range(start..).take(limit).cloned().collect()
    }

    /// Forgets that the oldest record can be found by its headers.
    fn release_keys(&mut self, oldest: &LogEvent) {
        for (header, values) in &mut self.keys {
            let Some(value) = oldest.headers.get(header) else {
                continue;
            };
            if let Some(ids) = values.get_mut(value) {
                ids.pop_front();
                if ids.is_empty() {
                    values.remove(value);
                }
            }
        }
    }

    /// The record whose header has this value; the first, if there are several.
    fn find(&mut self, header: &str, value: &str) -> Option<(EventId, LogEvent)> {
        if !self.keys.contains_key(header) {
            let mut values: HashMap<String, VecDeque<EventId>> = HashMap::new();
            for (id, event) in &self.records {
                if let Some(value) = event.headers.get(header) {
                    values.entry(value.clone()).or_default().push_back(*id);
                }
            }
            self.keys.insert(header.to_owned(), values);
        }
        let id = *self.keys.get(header)?.get(value)?.front()?;
        let at = self.records.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.records.get(at).cloned()
    }
}

/// Tells the readers of a topic apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReaderId(u64);

/// A topic as a subscription sees it.
struct Subscription {
    log: Arc<MemoryEventLog>,
    topic: Arc<TopicLog>,
    reader: ReaderId,
    /// The id of the last record taken from the topic.
    position: EventId,
    /// Records that have been taken and not handed out.
    ready: VecDeque<(EventId, LogEvent)>,
}

impl Subscription {
    /// Takes the next records. If there are none, `waker` is woken when there may
    /// be; looking and leaving the waker is one step, so that nothing can come in
    /// between.
    fn take_or_wait(&mut self, waker: &Waker) {
        let mut state = recover(&self.topic.state);
        let records = state.read_after(self.position, self.log.queue_depth);
        let replaced = match records.is_empty() {
            true => state.waiting.insert(self.reader, waker.clone()),
            false => None,
        };
        drop(state);
        drop(replaced); // It may be the last of a task that owns another reader.
        if let Some((id, _)) = records.last() {
            self.position = *id;
        }
        self.ready.extend(records);
    }
}

impl Stream for Subscription {
    type Item = Result<(EventId, LogEvent)>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ready.is_empty() {
            self.take_or_wait(cx.waker());
        }
        match self.ready.pop_front() {
            Some(record) => Poll::Ready(Some(Ok(record))),
            None => Poll::Pending,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let waker = recover(&self.topic.state).waiting.remove(&self.reader);
        drop(waker);
        self.log.prune(&self.topic);
    }
}

impl EventLog for MemoryEventLog {
    async fn append(&self, topic: &Topic, event: LogEvent) -> Result<EventId> {
        let draft = Draft::split(topic, event)?;
        let log = self.topic(topic);
        Ok(log.change(|state| log.append_new(state, draft)))
    }

    async fn append_batch(&self, topic: &Topic, events: Vec<LogEvent>) -> Result<Vec<EventId>> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let drafts = events.into_iter().map(|event| Draft::split(topic, event));
        let drafts = drafts.collect::<Result<Vec<_>>>()?;
        let log = self.topic(topic);
        Ok(log.change(|state| {
            drafts
                .into_iter()
                .map(|draft| log.append_new(state, draft))
                .collect()
        }))
    }

    async fn append_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        check_key(header)?;
        let log = self.topic(topic);
        log.append_once(header, value, event, |_| Ok(()))
    }

    async fn append_idempotent_chained_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        expected_head: Option<&str>,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        check_key(header)?;
        let log = self.topic(topic);
        let outcome = log.append_once(header, value, event, |state| {
            if state.last_hash.as_deref() == expected_head {
                return Ok(());
            }
            Err(LogError::StaleTopicHead {
                topic: topic.to_string(),
                expected: expected_head.map(str::to_owned),
                actual: state.last_hash.clone(),
            })
        });
        self.prune(&log);
        outcome
    }

    async fn read_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
    ) -> Result<Option<(EventId, LogEvent)>> {
        check_key(header)?;
        Ok(self.look(topic, |state| state.find(header, value)))
    }

    async fn read_range(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> Result<Vec<(EventId, LogEvent)>> {
        Ok(self.look(topic, |state| state.read_after(from.unwrap_or(0), limit)))
    }

    async fn latest(&self, topic: &Topic) -> Result<Option<EventId>> {
        Ok(self.look(topic, |state| state.latest()))
    }

    fn subscribe(
        self: Arc<Self>,
        topic: &Topic,
        from: Option<EventId>,
    ) -> impl Future<Output = Result<EventStream>> + Send {
        let subscription = Subscription {
            reader: ReaderId(self.next_reader.fetch_add(1, Ordering::Relaxed)),
            topic: self.topic(topic),
            log: self,
            position: from.unwrap_or(0),
            ready: VecDeque::new(),
        };
        let stream = EventStream::new(from, subscription);
        std::future::ready(Ok(stream))
    }

    async fn ack(&self, topic: &Topic, consumer: &ConsumerId, up_to: EventId) -> Result<()> {
        let log = self.topic(topic);
        let moved = log.move_cursor(consumer, up_to, EventId::max);
        self.prune(&log);
        moved
    }

    async fn rewind(&self, topic: &Topic, consumer: &ConsumerId, to: EventId) -> Result<()> {
        let log = self.topic(topic);
        let moved = log.move_cursor(consumer, to, |_, to| to);
        self.prune(&log);
        moved
    }

    async fn consumer_cursor(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
    ) -> Result<Option<EventId>> {
        Ok(self.look(topic, |state| state.cursors.get(consumer).copied()))
    }

    async fn compact(
        &self,
        topic: &Topic,
        before: EventId,
        force: CompactForce,
    ) -> Result<CompactReport> {
        match self.known(topic) {
            Some(log) => log.compact(before, force),
            None => Ok(CompactReport::default()),
        }
    }

    async fn verify_topic(&self, topic: &Topic) -> Result<EventLogVerificationReport> {
        let report = self.look(topic, |state| {
            let anchor = state.anchor.as_ref().map(|(id, hash)| Link {
                id: *id,
                hash: hash.clone(),
            });
            let mut verifier = Verifier::new(topic, anchor);
            for (id, event) in &state.records {
                verifier.check(*id, event);
            }
            Some(verifier.finish(state.latest()))
        });
        Ok(report.unwrap_or_else(|| Verifier::new(topic, None).finish(None)))
    }

    async fn topics(&self) -> Result<Vec<Topic>> {
        let topics = recover(&self.topics);
        let had_records = |log: &TopicLog| recover(&log.state).head > 0;
        let known = topics.iter().filter(|(_, log)| had_records(log));
        Ok(known.map(|(topic, _)| topic.clone()).collect())
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> EventLogDescription {
        EventLogDescription {
            backend: "memory",
            location: None,
            size_bytes: None,
            queue_depth: self.queue_depth,
        }
    }

    fn health(&self) -> LogHealth {
        let topics = recover(&self.topics);
        let heads = topics.values().map(|log| recover(&log.state).head);
        LogHealth {
            records_appended: heads.sum(),
            ..LogHealth::default()
        }
    }
}

/// No foreign code runs under our locks, so what they guard is whole even after a panic.
fn recover<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
