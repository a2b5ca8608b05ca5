//! The part that all logs on this machine share: one writer, one syncer, one reader.
//!
//! ```text
//! append ──► queue ──► writer ──► Store: group of changes, one commit ──► reply
//!                        │
//!                        └──► hub: newest records, who waits ──► subscriptions
//!                                                                  │ behind?
//! read ─────► queue ──► reader ◄────────────────────────────────────┘
//! barrier ──► queue ──► syncer: one sync for everybody who waits ──► reply
//! ```
//!
//! Disks block, and a future must not, so each kind of work has a thread. Changes
//! that wait while the writer is busy become its next group; that is all there is to
//! group commit. Appends and barriers do not wait for each other: while a sync is
//! under way the writer goes on.
//!
//! A backend brings a [`Store`] for the writer and a [`StoreReader`] for the reader;
//! it needs no locks against itself and knows nothing of futures.

mod health;
mod hub;
mod store;
mod subscription;
mod sync;
mod watch;
mod worker;

use std::future::Future;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::{
    AppendOutcome, Batch, CompactForce, CompactReport, EventLog, EventLogDescription,
    LogEventBytes, LogHealth, Result, check_key,
};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::{EventLogVerificationReport, Verifier};
use crate::record::{Draft, Record, Sealed};
use crate::stream::EventStream;

pub(crate) use health::Counters;
pub(crate) use hub::Hub;
pub(crate) use store::{
    Affected, CursorMove, Durability, Head, Store, StoreReader, SyncDisk, Watched,
};
use sync::Syncer;
use watch::Watch;
use worker::{Reader, Wanted, Writer};

/// Records read at once where nobody asked for fewer: other readers get their turn
/// in between.
const CHUNK_RECORDS_MAX: usize = 1024;

/// How often verifying starts over because records went away under it.
const VERIFY_ATTEMPTS_MAX: usize = 3;

/// A log on this machine.
pub(crate) struct LocalEventLog<S: Store> {
    hub: Arc<Hub>,
    // Dropped first: it talks to the writer.
    watch: Watch,
    writer: Writer<S>,
    reader: Reader<S::Reader>,
    syncer: Option<Syncer>,
    counters: Arc<Counters>,
    store_reader: Arc<S::Reader>,
    queue_depth: usize,
}

impl<S: Store> LocalEventLog<S> {
    /// A log on top of a store that has recovered from whatever happened before.
    pub(crate) fn start(store: S, queue_depth: usize) -> Result<Arc<Self>> {
        let counters = store.counters();
        let store_reader = store.reader();
        let syncer = match store.durability() {
            #[cfg(feature = "sqlite")]
            Durability::WithCommit => None,
            Durability::BySync(disk) => Some(Syncer::start(disk, Arc::clone(&counters))?),
        };
        let hub = Arc::new(Hub::new(queue_depth.max(1)));
        Ok(Arc::new(Self {
            watch: Watch::new(store_reader.watched()),
            writer: Writer::start(
                store,
                Arc::clone(&hub),
                Arc::clone(&counters),
                syncer.as_ref().and_then(Syncer::queue),
            )?,
            reader: Reader::start(Arc::clone(&store_reader))?,
            syncer,
            counters,
            hub,
            store_reader,
            queue_depth: queue_depth.max(1),
        }))
    }

    /// Takes up work again after a failure: looks at what is really stored and goes
    /// on from there. Until then a failed log refuses to append.
    ///
    /// # Errors
    /// What is stored cannot be read, or not be written to.
    pub(crate) async fn recover(&self) -> Result<()> {
        let recovered = self.writer.run_alone(S::recover).await?;
        recovered?;
        self.hub.forget_all();
        Ok(())
    }

    /// See [`AnyEventLog::catch_up`](crate::AnyEventLog::catch_up).
    #[cfg(feature = "sqlite")]
    pub(crate) async fn catch_up(&self) -> Result<()> {
        self.writer.run_alone(S::catch_up).await?
    }

    /// Appends batches without anybody who waits: `then` is given them back, with what became of
    /// them, when they would survive a power cut. It is called on the thread that writes.
    ///
    /// # Errors
    /// Somebody has to wait: for a sync, or for a place in the queue. The batches come back.
    #[cfg(feature = "sqlite")]
    pub(crate) fn append_batches_then(
        &self,
        batches: Vec<Batch>,
        then: impl FnOnce(Vec<Batch>, Vec<Result<Vec<EventId>>>) + Send + 'static,
    ) -> std::result::Result<(), Vec<Batch>> {
        let place = self.writer.place().filter(|_| self.syncer.is_none());
        let Some(place) = place else {
            return Err(batches);
        };
        let changes = batches.iter().map(appending_batch).collect();
        place.change(changes, move |made| then(batches, made));
        Ok(())
    }

    /// Whether somebody waits for what comes in a topic.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_followed(&self, topic: &Topic) -> bool {
        self.hub.is_followed(topic)
    }

    /// Notes what somebody else than the writer has committed, when readers can see it. Whoever
    /// began to follow it in this very moment has to look.
    #[cfg(feature = "sqlite")]
    pub(crate) fn note_committed(&self, batches: &[Batch]) {
        self.counters.note_group(batches.len());
        for batch in batches {
            let drafts = batch.drafts();
            let bytes = drafts.iter().map(|draft| draft.payload_json().len()).sum();
            self.counters.note_records(drafts.len(), bytes);
            self.hub.stir(&Affected::One(batch.topic().clone()));
        }
    }

    /// Lets the writer see that something will be due.
    #[cfg(feature = "sqlite")]
    pub(crate) fn tend(&self) {
        self.writer.tend();
    }

    /// Runs a change on the writer. It takes place also when nobody waits for it.
    async fn change<T: Send + 'static>(
        &self,
        topic: &Topic,
        change: impl FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
    ) -> Result<T> {
        self.writer.change(topic, change).await
    }

    /// Runs a look at the store on the reader.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&S::Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.reader.send(move |reader| {
            if !reply.is_closed() {
                let _nobody_may_wait_any_more = reply.send(look(reader));
            }
        })?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    /// Reads in chunks, so that one long read does not keep others waiting.
    async fn read_chunks<T: Send + 'static>(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
        read: Read<S::Reader, T>,
    ) -> Result<Vec<(EventId, T)>> {
        let mut records = Vec::new();
        let mut from = from.unwrap_or(0);
        while records.len() < limit {
            let wanted = CHUNK_RECORDS_MAX.min(limit - records.len());
            let topic = topic.clone();
            let chunk = self.look(move |reader| read(reader, &topic, from, wanted));
            let chunk = chunk.await?;
            // A chunk may be short because it is large, or because there is damage
            // after it; only an empty one is the end.
            let Some((last, _)) = chunk.last() else { break };
            from = *last;
            records.extend(chunk);
        }
        Ok(records)
    }

    /// Recomputes the chain; `false` if what was found may be due to a compaction that
    /// took the beginning meanwhile.
    async fn verify_once(&self, topic: &Topic) -> Result<(EventLogVerificationReport, bool)> {
        let ends = |name: Topic| {
            move |reader: &S::Reader| Ok((reader.latest(&name)?, reader.anchor(&name)?))
        };
        // The end is looked up first: what is appended meanwhile is checked, not missed.
        let (head, anchor) = self.look(ends(topic.clone())).await?;
        let anchor_id = anchor.as_ref().map(|anchor| anchor.id);
        let mut verifier = Verifier::new(topic, anchor);
        let mut from = anchor_id;
        loop {
            let records = self.read_range(topic, from, CHUNK_RECORDS_MAX).await?;
            for (id, event) in &records {
                verifier.check(*id, event);
            }
            from = records.last().map(|(id, _)| *id).or(from);
            if records.len() < CHUNK_RECORDS_MAX {
                break;
            }
        }
        let (_, anchor_now) = self.look(ends(topic.clone())).await?;
        let is_same = anchor_now.map(|anchor| anchor.id) == anchor_id;
        let report = verifier.finish(head);
        let is_settled = report.verified || is_same;
        Ok((report, is_settled))
    }

    async fn append_once(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        expected_head: Option<Option<String>>,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        check_key(header)?;
        let draft = Draft::new(topic, event.with_header(header, value))?;
        let (header, value, name) = (header.to_owned(), value.to_owned(), topic.clone());
        self.change(topic, move |store| {
            if let Some((event_id, event)) = store.find(&name, &header, &value)? {
                return Ok(Changed::nothing(AppendOutcome {
                    event_id,
                    event,
                    inserted: false,
                }));
            }
            if let Some(expected) = expected_head {
                check_head(&name, expected, store.head(&name)?)?;
            }
            let sealed = store.append_one(&name, draft)?;
            let outcome = AppendOutcome {
                event_id: sealed.id,
                event: sealed.event(),
                inserted: true,
            };
            Ok(Changed {
                outcome,
                appended: vec![sealed],
            })
        })
        .await
    }

    async fn append_one(&self, topic: &Topic, event: LogEvent, wanted: Wanted) -> Result<EventId> {
        let draft = Draft::new(topic, event)?;
        self.writer.append(topic, draft, wanted).await
    }

    async fn move_cursor(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
        to: EventId,
        how: CursorMove,
    ) -> Result<()> {
        let (name, consumer) = (topic.clone(), consumer.clone());
        self.change(topic, move |store| {
            let head = store.head(&name)?.id;
            if to > head {
                return Err(LogError::CursorBeyondHead {
                    topic: name.to_string(),
                    consumer: consumer.to_string(),
                    cursor: to,
                    head,
                });
            }
            store.move_cursor(&name, &consumer, to, how)?;
            Ok(Changed::nothing(()))
        })
        .await
    }
}

/// The change that appends records next to each other.
fn appending<S: Store>(
    topic: Topic,
    drafts: Vec<Draft>,
) -> impl FnOnce(&mut S) -> Result<Changed<Vec<EventId>>> + Send + 'static {
    move |store| {
        let appended = store.append(&topic, drafts)?;
        let outcome = appended.iter().map(|sealed| sealed.id).collect();
        Ok(Changed { outcome, appended })
    }
}

/// The change that appends a batch, and the topic it is about.
fn appending_batch<S: Store>(
    batch: &Batch,
) -> (
    Topic,
    impl FnOnce(&mut S) -> Result<Changed<Vec<EventId>>> + Send + 'static,
) {
    let topic = batch.topic().clone();
    (topic.clone(), appending(topic, batch.drafts().to_vec()))
}

/// Reads records after an id, at most so many.
type Read<R, T> = fn(&R, &Topic, EventId, usize) -> Result<Vec<(EventId, T)>>;

/// What a change did: what its caller wants to know, and what readers do.
pub(crate) struct Changed<T> {
    outcome: T,
    appended: Vec<Sealed>,
}

impl<T> Changed<T> {
    /// A change without new records.
    fn nothing(outcome: T) -> Self {
        Self {
            outcome,
            appended: Vec::new(),
        }
    }
}

fn check_head(topic: &Topic, expected: Option<String>, head: Head) -> Result<()> {
    if head.hash == expected {
        return Ok(());
    }
    Err(LogError::StaleTopicHead {
        topic: topic.to_string(),
        expected,
        actual: head.hash,
    })
}

impl<S: Store> EventLog for LocalEventLog<S> {
    async fn append(&self, topic: &Topic, event: LogEvent) -> Result<EventId> {
        self.append_one(topic, event, Wanted::Committed).await
    }

    async fn append_durable(&self, topic: &Topic, event: LogEvent) -> Result<EventId> {
        self.append_one(topic, event, Wanted::Durable).await
    }

    async fn append_batch(&self, topic: &Topic, events: Vec<LogEvent>) -> Result<Vec<EventId>> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let drafts = events.into_iter().map(|event| Draft::new(topic, event));
        let change = appending(topic.clone(), drafts.collect::<Result<_>>()?);
        self.change(topic, change).await
    }

    async fn append_batches(&self, batches: &[Batch]) -> Vec<Result<Vec<EventId>>> {
        let changes = batches.iter().map(appending_batch).collect();
        self.writer.changes(changes).await
    }

    async fn append_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        self.append_once(topic, header, value, None, event).await
    }

    async fn append_idempotent_chained_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        expected_head: Option<&str>,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        let expected_head = Some(expected_head.map(str::to_owned));
        let appended = self.append_once(topic, header, value, expected_head, event);
        appended.await
    }

    async fn read_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
    ) -> Result<Option<Record>> {
        check_key(header)?;
        let (name, header, value) = (topic.clone(), header.to_owned(), value.to_owned());
        self.change(topic, move |store| {
            Ok(Changed::nothing(store.find(&name, &header, &value)?))
        })
        .await
    }

    async fn read_range(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> Result<Vec<Record>> {
        self.read_chunks(topic, from, limit, S::Reader::read_after)
            .await
    }

    async fn read_range_bytes(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> Result<Vec<(EventId, LogEventBytes)>> {
        self.read_chunks(topic, from, limit, S::Reader::read_bytes_after)
            .await
    }

    async fn latest(&self, topic: &Topic) -> Result<Option<EventId>> {
        let topic = topic.clone();
        self.look(move |reader| reader.latest(&topic)).await
    }

    fn subscribe(
        self: Arc<Self>,
        topic: &Topic,
        from: Option<EventId>,
    ) -> impl Future<Output = Result<EventStream>> + Send {
        // Watched before anything is read: nothing can come in between.
        let watched = self.watch.follow(self.writer.ear());
        let subscription = watched.map(|()| {
            let follower = self.hub.follow(topic);
            subscription::Subscription::new(Arc::clone(&self), topic, from, follower)
        });
        std::future::ready(subscription.map(|records| EventStream::new(from, records)))
    }

    async fn ack(&self, topic: &Topic, consumer: &ConsumerId, up_to: EventId) -> Result<()> {
        self.move_cursor(topic, consumer, up_to, CursorMove::Forward)
            .await
    }

    async fn rewind(&self, topic: &Topic, consumer: &ConsumerId, to: EventId) -> Result<()> {
        self.move_cursor(topic, consumer, to, CursorMove::Anywhere)
            .await
    }

    async fn consumer_cursor(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
    ) -> Result<Option<EventId>> {
        let (topic, consumer) = (topic.clone(), consumer.clone());
        self.look(move |reader| reader.cursor(&topic, &consumer))
            .await
    }

    async fn compact(
        &self,
        topic: &Topic,
        before: EventId,
        force: CompactForce,
    ) -> Result<CompactReport> {
        let name = topic.clone();
        let mut report = self
            .change(topic, move |store| {
                let before = before.min(store.head(&name)?.id);
                if force == CompactForce::Respect {
                    check_cursors(&name, before, store.lowest_cursor(&name)?)?;
                }
                Ok(Changed::nothing(store.compact(&name, before)?))
            })
            .await?;
        self.hub.forget_up_to(topic, before);
        if report.removed > 0 {
            report.checkpointed = self.writer.run_alone(S::tidy).await??;
        }
        Ok(report)
    }

    async fn verify_topic(&self, topic: &Topic) -> Result<EventLogVerificationReport> {
        let mut attempt = 1;
        loop {
            let (report, is_settled) = self.verify_once(topic).await?;
            if is_settled || attempt == VERIFY_ATTEMPTS_MAX {
                return Ok(report);
            }
            attempt += 1;
        }
    }

    async fn topics(&self) -> Result<Vec<Topic>> {
        self.look(StoreReader::topics).await
    }

    async fn flush(&self) -> Result<()> {
        self.barrier().await?;
        self.writer.run_alone(S::checkpoint).await?
    }

    async fn barrier(&self) -> Result<()> {
        self.counters.check_poison()?;
        match &self.syncer {
            Some(syncer) => syncer.barrier().await,
            None => Ok(()),
        }
    }

    fn describe(&self) -> EventLogDescription {
        self.store_reader.describe(self.queue_depth)
    }

    fn health(&self) -> LogHealth {
        self.counters.health()
    }
}

/// Nothing that a consumer has not read may go.
fn check_cursors(
    topic: &Topic,
    before: EventId,
    lowest: Option<(ConsumerId, EventId)>,
) -> Result<()> {
    match lowest {
        Some((consumer, cursor)) if cursor < before => Err(LogError::CompactionBlocked {
            topic: topic.to_string(),
            before,
            consumer: consumer.to_string(),
            cursor,
        }),
        _ => Ok(()),
    }
}
