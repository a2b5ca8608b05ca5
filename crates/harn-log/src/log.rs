//! What a log can do, whichever backend it has.
//!
//! Methods are asynchronous because some backends are on another machine. Each
//! states what holds when it resolves:
//!
//! | after            | the record                                     |
//! |------------------|------------------------------------------------|
//! | `append`         | has its id, is visible, survives the process   |
//! | `flush`, `barrier` | survives a power cut                         |
//!
//! A volatile backend keeps these promises for as long as it lives.

use std::future::Future;
use std::sync::Arc;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::join::{Joined, join};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::EventLogVerificationReport;
use crate::record::Draft;
use crate::stream::EventStream;

/// Result of an operation on a log.
pub type Result<T> = std::result::Result<T, LogError>;

/// Records of one topic that belong next to each other.
#[derive(Clone)]
pub struct Batch {
    topic: Topic,
    drafts: Vec<Draft>,
}

impl Batch {
    /// The records of each topic together, in their order. The topics come in the order of their
    /// first records.
    pub fn by_topic(drafts: impl IntoIterator<Item = Draft>) -> Vec<Self> {
        let mut batches: Vec<Self> = Vec::new();
        for draft in drafts {
            let known = batches.iter_mut().find(|one| one.topic == *draft.topic());
            match known {
                Some(batch) => batch.drafts.push(draft),
                None => batches.push(Self {
                    topic: draft.topic().clone(),
                    drafts: vec![draft],
                }),
            }
        }
        batches
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        &self.topic
    }

    /// The records.
    pub fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// The records one by one again.
    pub fn into_drafts(self) -> Vec<Draft> {
        self.drafts
    }
}

/// An append-only log of named topics.
pub trait EventLog: Send + Sync {
    /// Appends a record and returns its id: one more than the newest id the topic
    /// ever had.
    fn append(
        &self,
        topic: &Topic,
        event: LogEvent,
    ) -> impl Future<Output = Result<EventId>> + Send;

    /// Appends a record and resolves when it would survive a power cut: like
    /// [`append`](Self::append) and then [`barrier`](Self::barrier), and cheaper.
    fn append_durable(
        &self,
        topic: &Topic,
        event: LogEvent,
    ) -> impl Future<Output = Result<EventId>> + Send {
        async move {
            let id = self.append(topic, event).await?;
            self.barrier().await?;
            Ok(id)
        }
    }

    /// Appends records next to each other, all or none.
    fn append_batch(
        &self,
        topic: &Topic,
        events: Vec<LogEvent>,
    ) -> impl Future<Output = Result<Vec<EventId>>> + Send;

    /// Appends to several topics: to each its records next to each other, all or none of them.
    /// A log that can do that commits them together, at the price of one of them.
    fn append_batches(
        &self,
        batches: &[Batch],
    ) -> impl Future<Output = Vec<Result<Vec<EventId>>>> + Send {
        async move {
            let appending = batches.iter().map(|batch| {
                let events = batch.drafts.iter().map(Draft::event).collect();
                Box::pin(self.append_batch(&batch.topic, events)) as Joined<'_, _>
            });
            join(appending.collect()).await
        }
    }

    /// Appends a record unless there is one whose header `header` has this value;
    /// in that case returns the one there is. Two callers never both insert.
    fn append_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        event: LogEvent,
    ) -> impl Future<Output = Result<AppendOutcome>> + Send;

    /// Like [`append_idempotent_by_header`](Self::append_idempotent_by_header); a new
    /// record is appended only if `expected_head` is the hash of the last one. A
    /// repetition succeeds whatever the head is.
    fn append_idempotent_chained_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        expected_head: Option<&str>,
        event: LogEvent,
    ) -> impl Future<Output = Result<AppendOutcome>> + Send;

    /// The record whose header `header` has this value.
    fn read_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
    ) -> impl Future<Output = Result<Option<(EventId, LogEvent)>>> + Send;

    /// Records with ids greater than `from`, ascending, at most `limit`.
    fn read_range(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(EventId, LogEvent)>>> + Send;

    /// Like [`read_range`](Self::read_range), with payloads as JSON text.
    fn read_range_bytes(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(EventId, LogEventBytes)>>> + Send {
        async move {
            let records = self.read_range(topic, from, limit).await?;
            records
                .into_iter()
                .map(|(id, event)| Ok((id, LogEventBytes::of(event)?)))
                .collect()
        }
    }

    /// The newest id ever assigned, also when its record is gone.
    fn latest(&self, topic: &Topic) -> impl Future<Output = Result<Option<EventId>>> + Send;

    /// Records with ids greater than `from`, first those that are there and then
    /// those that come, without a gap, a repetition or an end. A reader that is slow
    /// reads from storage; it is never cut off.
    fn subscribe(
        self: Arc<Self>,
        topic: &Topic,
        from: Option<EventId>,
    ) -> impl Future<Output = Result<EventStream>> + Send;

    /// Notes that a consumer has read up to `up_to`. Going back needs
    /// [`rewind`](Self::rewind); an earlier id changes nothing here.
    fn ack(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
        up_to: EventId,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Sets a consumer back.
    fn rewind(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
        to: EventId,
    ) -> impl Future<Output = Result<()>> + Send;

    /// How far a consumer has read; `None` for one that never said.
    fn consumer_cursor(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
    ) -> impl Future<Output = Result<Option<EventId>>> + Send;

    /// Removes records with ids up to and including `before`.
    ///
    /// Fails where a consumer has not read them, unless `force` says to go ahead.
    fn compact(
        &self,
        topic: &Topic,
        before: EventId,
        force: CompactForce,
    ) -> impl Future<Output = Result<CompactReport>> + Send;

    /// Recomputes the hash chain of a topic.
    fn verify_topic(
        &self,
        topic: &Topic,
    ) -> impl Future<Output = Result<EventLogVerificationReport>> + Send;

    /// All topics that ever had a record, sorted.
    fn topics(&self) -> impl Future<Output = Result<Vec<Topic>>> + Send;

    /// Resolves when everything appended before would survive a power cut.
    fn flush(&self) -> impl Future<Output = Result<()>> + Send;

    /// The same as [`flush`](Self::flush), in the words of the journal.
    fn barrier(&self) -> impl Future<Output = Result<()>> + Send {
        self.flush()
    }

    /// What kind of log this is, and where.
    fn describe(&self) -> EventLogDescription;

    /// What the log has done since it was opened, and whether it still works.
    fn health(&self) -> LogHealth;
}

/// A header by which records can be found. What we write ourselves is no key: it is
/// different in every record.
pub(crate) fn check_key(header: &str) -> Result<()> {
    if header.trim().is_empty() || header.starts_with("harn.provenance.") {
        return Err(LogError::InvalidHeader);
    }
    Ok(())
}

/// Whether compaction may take what a consumer has not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompactForce {
    /// It may not.
    #[default]
    Respect,
    /// It may; the consumer goes on after what is gone.
    Override,
}

/// A record with its payload left as text.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEventBytes {
    /// What it is.
    pub kind: String,
    /// Its payload as compact JSON.
    pub payload: Vec<u8>,
    /// Its headers.
    pub headers: std::collections::BTreeMap<String, String>,
    /// When it happened.
    pub occurred_at_ms: i64,
}

impl LogEventBytes {
    fn of(event: LogEvent) -> Result<Self> {
        Ok(Self {
            payload: serde_json::to_vec(&event.payload)?,
            kind: event.kind,
            headers: event.headers,
            occurred_at_ms: event.occurred_at_ms,
        })
    }
}

/// What became of an idempotent append.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendOutcome {
    /// Id of the record, new or old.
    pub event_id: EventId,
    /// The record as it is stored.
    pub event: LogEvent,
    /// Whether it is new.
    pub inserted: bool,
}

/// What compaction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CompactReport {
    /// Records that went.
    pub removed: u64,
    /// Records that are left.
    pub remaining: u64,
    /// Newest id ever assigned.
    pub latest: Option<EventId>,
    /// Whether the backend tidied up its files afterwards.
    pub checkpointed: bool,
}

/// What kind of log this is, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogDescription {
    /// `memory`, `file`, `sqlite` or `nats`.
    pub backend: &'static str,
    /// Where it is, for backends that are anywhere.
    pub location: Option<String>,
    /// How large it is, as far as that is known.
    pub size_bytes: Option<u64>,
    /// How many records a reader takes at once.
    pub queue_depth: usize,
}

/// What a log has done since it was opened, and whether it still works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHealth {
    /// Records appended.
    pub records_appended: u64,
    /// What they came to in storage.
    pub bytes_appended: u64,
    /// Changes asked for: appends, acknowledgements, compactions.
    pub changes: u64,
    /// How many groups the changes were made in. The fewer, the more they shared.
    pub groups: u64,
    /// Barriers taken.
    pub barriers: u64,
    /// How many syncs served them.
    pub syncs: u64,
    /// Operations of the system below that failed.
    pub failures: u64,
    /// The first of these failures.
    pub first_error: Option<String>,
    /// Why the log refuses to append, if it does.
    pub refusing: Option<String>,
    /// What had to be repaired.
    pub repairs: Vec<Repair>,
}

/// A damaged end that was cut off.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Repair {
    /// The topic.
    pub topic: String,
    /// The file.
    pub path: std::path::PathBuf,
    /// Where the file ends now.
    pub offset: u64,
    /// How many bytes went.
    pub bytes_cut: u64,
    /// How many of the records that went could still be read. They came after
    /// something unreadable, and nobody was ever told that they were safe.
    pub records_cut: u64,
}
