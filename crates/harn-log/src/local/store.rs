//! What a backend brings.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::log::{CompactReport, EventLogDescription, LogEventBytes, Result};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::Link;
use crate::record::{Draft, Record, Sealed};

use super::Counters;

/// Where changes are made. One thread calls it, the writer; other processes may have
/// stores of their own in the same place.
///
/// Changes come in groups: `begin`, any number of changes, `commit`. A change that
/// fails leaves nothing behind and the group goes on; a commit that fails takes the
/// whole group with it.
pub(crate) trait Store: Sized + Send + 'static {
    /// How the same place is read.
    type Reader: StoreReader;

    /// Whether a group may only touch one topic, because topics are locked one by one.
    const ONE_TOPIC_PER_GROUP: bool;

    /// How many changes a group may have. Large groups share the price of a commit;
    /// small ones let callers prepare the next while one is under way.
    const GROUP_CHANGES_MAX: usize;

    /// A reader of this place.
    fn reader(&self) -> Arc<Self::Reader>;

    /// What it counts into.
    fn counters(&self) -> Arc<Counters>;

    /// When what is committed would survive a power cut.
    fn durability(&self) -> Durability;

    /// Begins a group, which touches only this topic if there may be only one.
    fn begin(&mut self, topic: &Topic) -> Result<()>;

    /// Ends a group. Everything in it is visible to all readers and survives the
    /// process.
    fn commit(&mut self) -> Result<()>;

    /// Appends a record.
    fn append_one(&mut self, topic: &Topic, draft: Draft) -> Result<Sealed>;

    /// Appends records next to each other.
    fn append(&mut self, topic: &Topic, drafts: Vec<Draft>) -> Result<Vec<Sealed>>;

    /// The newest record ever appended.
    fn head(&mut self, topic: &Topic) -> Result<Head>;

    /// The first record whose header has this value.
    fn find(&mut self, topic: &Topic, header: &str, value: &str) -> Result<Option<Record>>;

    /// Moves a consumer to a place that exists.
    fn move_cursor(
        &mut self,
        topic: &Topic,
        consumer: &ConsumerId,
        to: EventId,
        how: CursorMove,
    ) -> Result<()>;

    /// The consumer that is furthest behind.
    fn lowest_cursor(&mut self, topic: &Topic) -> Result<Option<(ConsumerId, EventId)>>;

    /// Removes records up to `before`, which exists.
    fn compact(&mut self, topic: &Topic, before: EventId) -> Result<CompactReport>;

    /// Gives space back after a compaction, outside of groups; `false` if somebody was
    /// in the way.
    fn tidy(&mut self) -> Result<bool>;

    /// Tidies up after commits, outside of groups.
    fn checkpoint(&mut self) -> Result<()>;

    /// Whom a change of a watched file concerns, if it was another process's.
    fn heard(&mut self, file_name: &str) -> Affected;

    /// Where the last group found records of other processes.
    fn take_foreign(&mut self) -> Affected;

    /// Starts over from what is really stored, after a failure and outside of groups.
    fn recover(&mut self) -> Result<()>;

    /// Makes readable what other processes have appended before this.
    #[cfg(feature = "sqlite")]
    fn catch_up(&mut self) -> Result<()> {
        Ok(())
    }

    /// When there is something to [tend](Self::tend) to though nobody asks for it.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// Does what is due, outside of groups.
    fn tend(&mut self) {}

    /// Leaves everything as others want to find it. Nothing comes after this.
    fn close(&mut self) {}
}

/// How a place is read. Any thread may call it, while the writer writes.
pub(crate) trait StoreReader: Send + Sync + 'static {
    /// Records with ids greater than `from`, ascending, at most `limit`.
    fn read_after(&self, topic: &Topic, from: EventId, limit: usize) -> Result<Vec<Record>>;

    /// The same, with payloads left as JSON.
    fn read_bytes_after(
        &self,
        topic: &Topic,
        from: EventId,
        limit: usize,
    ) -> Result<Vec<(EventId, LogEventBytes)>>;

    /// The newest id ever assigned.
    fn latest(&self, topic: &Topic) -> Result<Option<EventId>>;

    /// How far a consumer has read.
    fn cursor(&self, topic: &Topic, consumer: &ConsumerId) -> Result<Option<EventId>>;

    /// The last record that was compacted away.
    fn anchor(&self, topic: &Topic) -> Result<Option<Link>>;

    /// All topics that ever had a record, sorted.
    fn topics(&self) -> Result<Vec<Topic>>;

    /// What kind of log this is, and where.
    fn describe(&self, queue_depth: usize) -> EventLogDescription;

    /// What to watch for the changes of other processes.
    fn watched(&self) -> Watched;
}

/// When what is committed would survive a power cut.
pub(crate) enum Durability {
    /// As soon as it is committed.
    #[cfg(feature = "sqlite")]
    WithCommit,
    /// After a sync, which may run while the store goes on.
    BySync(Arc<dyn SyncDisk>),
}

/// Makes everything that has been committed survive a power cut.
pub(crate) trait SyncDisk: Send + Sync {
    /// Returns when everything that was committed before the call is safe.
    fn sync(&self) -> Result<()>;
}

/// A folder whose files change when another process appends.
pub(crate) struct Watched {
    /// The folder.
    pub(crate) folder: PathBuf,
}

/// Whom a changed file concerns.
pub(crate) enum Affected {
    /// Readers of one topic.
    One(Topic),
    /// Readers of all topics.
    All,
    /// Nobody.
    Nobody,
}

/// The newest record a topic ever had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// Its id, 0 if there never was one.
    pub(crate) id: EventId,
    /// Its hash.
    pub(crate) hash: Option<String>,
}

/// Which way a cursor may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorMove {
    /// To a later id; an earlier one changes nothing.
    Forward,
    /// To any id.
    Anywhere,
}
