//! What the writer of a SQLite log does: a group of changes is a transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, OptionalExtension, params};

use crate::clock::now_ms;
use crate::error::LogError;
use crate::local::{Affected, Counters, CursorMove, Durability, Head, Store};
use crate::log::{CompactReport, Result};
use crate::name::{ConsumerId, EventId, Topic};
use crate::record::{Draft, Record, Sealed};

use super::ahead::{Ahead, Synced};
use super::reader::{SqliteReader, StoredRow, key};
use super::tables::{Tables, hash_among};
use super::{Access, bell_of, wal_of};

/// The largest text SQLite takes, with room for the rest of the row.
const PAYLOAD_BYTES_MAX: usize = 900_000_000;

/// How much of what came from the intake may lie in the write-ahead log when nobody is at work.
const UNMOVED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The SQLite backend as its writer sees it.
pub(crate) struct SqliteStore {
    path: PathBuf,
    access: Access,
    tables: Tables,
    reader: Arc<SqliteReader>,
    counters: Arc<Counters>,
    ahead: Arc<Ahead>,
    /// The first frame of the intake that the tables will not have after the transaction.
    next_frame: u64,
    /// About how much lies in the write-ahead log that came from the intake.
    unmoved_bytes: usize,
    /// What the transaction appends.
    records: usize,
    bytes: usize,
}

impl SqliteStore {
    pub(super) fn new(
        path: &Path,
        connection: Connection,
        access: Access,
        reader: Arc<SqliteReader>,
        ahead: Arc<Ahead>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            access,
            tables: Tables::new(path, connection),
            reader,
            counters: Arc::new(Counters::default()),
            ahead,
            next_frame: 0,
            unmoved_bytes: 0,
            records: 0,
            bytes: 0,
        }
    }

    /// Begins a transaction in which nobody else can write anything, with everything that was
    /// committed before.
    fn begin_alone(&mut self) -> Result<()> {
        self.shelve_all().map_err(|error| self.undo(error))
    }

    fn shelve_all(&mut self) -> Result<()> {
        self.ahead.shut()?;
        self.tables.begin(Synced::Yes)?;
        let (frames, _) = self.ahead.unshelved_frames();
        self.next_frame = self.tables.shelve(&frames)?;
        let leftovers = self.ahead.leftovers(self.next_frame)?;
        if !leftovers.is_empty() {
            self.next_frame = self.tables.shelve(&leftovers)?;
            self.tables.note_foreign();
        }
        Ok(())
    }

    /// Ends such a transaction. Others can write again.
    fn commit_alone(&mut self) -> Result<()> {
        let committed = self.tables.commit();
        let synced = committed.map_err(|error| self.undo(error))?;
        self.ring();
        self.ahead.note_shelved(self.next_frame, synced);
        self.ahead.open_again();
        Ok(())
    }

    /// Moves what this process has committed into the tables, while others go on.
    fn shelve(&mut self) -> Result<()> {
        let (frames, is_sync_wanted) = self.ahead.unshelved_frames();
        if frames.is_empty() {
            return Ok(());
        }
        let synced = match is_sync_wanted {
            true => Synced::Yes,
            false => Synced::No,
        };
        let shelved = self.tables.begin(synced).and_then(|()| {
            let next = self.tables.shelve(&frames)?;
            Ok((next, self.tables.commit()?))
        });
        let (next, synced) = shelved.map_err(|error| self.undo(error))?;
        self.ring();
        self.ahead.note_shelved(next, synced);
        self.unmoved_bytes += frames.iter().map(|one| one.bytes().len()).sum::<usize>();
        Ok(())
    }

    /// Moves the write-ahead log into the database, if that is worth it and nobody is at work:
    /// it takes the disk from whoever commits.
    fn move_log(&mut self) {
        if self.unmoved_bytes >= UNMOVED_BYTES_MAX && self.ahead.is_empty() {
            self.unmoved_bytes = 0;
            if let Err(error) = self.tables.move_log("PASSIVE") {
                self.counters.note_failure(&error);
            }
        }
    }

    /// Moves what was left behind into the tables, unless somebody is there who will.
    pub(super) fn adopt_leftovers(&mut self) -> Result<()> {
        if !self.ahead.is_left_alone()? {
            return Ok(());
        }
        self.begin_alone()?;
        self.commit_alone()
    }

    fn make_intake(&mut self) -> Result<()> {
        self.begin_alone()?;
        let made = self.ahead.make_intake(self.next_frame);
        made.map_err(|error| self.undo(error))?;
        self.commit_alone()
    }

    /// Gives up the transaction under way.
    fn undo(&mut self, error: LogError) -> LogError {
        self.tables.roll_back();
        (self.records, self.bytes) = (0, 0);
        self.ahead.note_failure();
        self.counters.note_failure(&error);
        error
    }

    /// Lets other processes hear that there is something new. What is committed is committed,
    /// whether or not anybody hears of it.
    fn ring(&mut self) {
        if let Err(error) = self.ahead.ring() {
            self.counters.note_failure(&error);
        }
    }

    fn count(&mut self, appended: &[Sealed]) {
        self.records += appended.len();
        self.bytes += appended.iter().map(Sealed::bytes).sum::<usize>();
    }
}

impl Store for SqliteStore {
    type Reader = SqliteReader;

    const ONE_TOPIC_PER_GROUP: bool = false;

    const GROUP_CHANGES_MAX: usize = 256;

    fn reader(&self) -> Arc<SqliteReader> {
        Arc::clone(&self.reader)
    }

    fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    fn durability(&self) -> Durability {
        Durability::WithCommit
    }

    fn begin(&mut self, _topic: &Topic) -> Result<()> {
        if self.access == Access::Read {
            return Err(LogError::ReadOnly);
        }
        self.begin_alone()
    }

    fn commit(&mut self) -> Result<()> {
        self.commit_alone()?;
        let (records, bytes) = (self.records, self.bytes);
        (self.records, self.bytes) = (0, 0);
        self.counters.note_records(records, bytes);
        Ok(())
    }

    fn append_one(&mut self, topic: &Topic, draft: Draft) -> Result<Sealed> {
        let appended = self.append(topic, vec![draft])?;
        Ok(appended.into_iter().next().expect("one was appended"))
    }

    fn append(&mut self, topic: &Topic, drafts: Vec<Draft>) -> Result<Vec<Sealed>> {
        for draft in &drafts {
            draft.check_size(PAYLOAD_BYTES_MAX)?;
        }
        let appended = self.tables.part(|tables| tables.insert(topic, drafts))?;
        self.count(&appended);
        Ok(appended)
    }

    fn head(&mut self, topic: &Topic) -> Result<Head> {
        self.tables.part(|this| Ok(this.topic(topic)?.head.clone()))
    }

    fn find(&mut self, topic: &Topic, header: &str, value: &str) -> Result<Option<Record>> {
        // What this group has appended is looked for as well.
        self.tables.part(Tables::write_heads)?;
        self.tables.register_key(topic, header)?;
        let row = self.tables.part(|this| {
            let id: Option<i64> = this
                .connection
                .prepare_cached(
                    "SELECT min(event_id) FROM event_idempotency_keys
                     WHERE topic = ?1 AND key = ?2 AND value = ?3",
                )?
                .query_row([topic.as_str(), header, value], |row| row.get(0))?;
            this.connection
                .prepare_cached(StoredRow::WITH_ID)?
                .query_row(params![topic.as_str(), id], StoredRow::get)
                .optional()
        })?;
        let record = row.map(|row| Ok((row.id, row.event()?)));
        record.transpose()
    }

    fn move_cursor(
        &mut self,
        topic: &Topic,
        consumer: &ConsumerId,
        to: EventId,
        how: CursorMove,
    ) -> Result<()> {
        let moved = match how {
            CursorMove::Forward => "max(cursor, ?3)",
            CursorMove::Anywhere => "?3",
        };
        self.tables.part(|this| {
            this.connection
                .prepare_cached(&format!(
                    "INSERT INTO consumers VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (topic, consumer_id)
                     DO UPDATE SET cursor = {moved}, updated_at_ms = ?4"
                ))?
                .execute(params![
                    topic.as_str(),
                    consumer.as_str(),
                    key(to),
                    now_ms()
                ])?;
            Ok(())
        })
    }

    fn lowest_cursor(&mut self, topic: &Topic) -> Result<Option<(ConsumerId, EventId)>> {
        let lowest = self.tables.part(|this| {
            this.connection
                .prepare_cached(
                    "SELECT consumer_id, cursor FROM consumers WHERE topic = ?1
                     ORDER BY cursor, consumer_id LIMIT 1",
                )?
                .query_row([topic.as_str()], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
                })
                .optional()
        })?;
        let lowest =
            lowest.map(|(name, cursor)| Ok((ConsumerId::new(name)?, cursor.cast_unsigned())));
        lowest.transpose()
    }

    fn compact(&mut self, topic: &Topic, before: EventId) -> Result<CompactReport> {
        self.tables.part(|this| {
            this.write_heads()?;
            let last_hash: Option<String> = this
                .connection
                .query_row(StoredRow::WITH_ID, params![topic.as_str(), key(before)], |row| {
                    row.get::<_, String>(3)
                })
                .optional()?
                .and_then(|headers| hash_among(&headers));
            let removed = this.remove_runs(topic, before)?;
            this.connection.execute(
                "DELETE FROM event_idempotency_keys WHERE topic = ?1 AND event_id <= ?2",
                params![topic.as_str(), key(before)],
            )?;
            if removed > 0 {
                this.connection.execute(
                    "UPDATE topic_heads SET compacted_id = ?2, compacted_hash = ?3 WHERE topic = ?1",
                    params![topic.as_str(), key(before), last_hash],
                )?;
            }
            let remaining: i64 = this.connection.query_row(
                "SELECT coalesce(sum(last_id - first_id + 1), 0) FROM event_runs
                 WHERE topic = (SELECT number FROM topic_heads WHERE topic = ?1)",
                [topic.as_str()],
                |row| row.get(0),
            )?;
            let head = this.topic(topic)?.head.id;
            Ok(CompactReport {
                removed: removed as u64,
                remaining: remaining.cast_unsigned(),
                latest: (head > 0).then_some(head),
                checkpointed: false,
            })
        })
    }

    fn tidy(&mut self) -> Result<bool> {
        self.tables.move_log("TRUNCATE")
    }

    fn checkpoint(&mut self) -> Result<()> {
        match self.access {
            // Readers in the way keep the log from being moved, not from being safe.
            Access::Write => {
                self.shelve()?;
                self.tables.move_log("FULL").map(drop)
            }
            Access::Read => Ok(()),
        }
    }

    fn heard(&mut self, file_name: &str) -> Affected {
        let is_ours = |path: &Path| path.file_name().is_some_and(|name| name == file_name);
        let is_named = !file_name.is_empty();
        if is_named && !is_ours(&bell_of(&self.path)) && !is_ours(&wal_of(&self.path)) {
            return Affected::Nobody;
        }
        let looked = self.tables.look_around();
        match self.tables.take_foreign() || looked.is_err() {
            true => Affected::All,
            false => Affected::Nobody,
        }
    }

    fn take_foreign(&mut self) -> Affected {
        match self.tables.take_foreign() {
            true => Affected::All,
            false => Affected::Nobody,
        }
    }

    fn recover(&mut self) -> Result<()> {
        self.tables.roll_back();
        match self.ahead.is_doubtful() {
            // What may have been written is stored, or is not, from now on.
            true => self.begin_alone().and_then(|()| self.commit_alone()),
            false => Ok(()),
        }
    }

    /// Another process may have records in the intake that it has not moved into the tables yet,
    /// or that it never will because it was killed. The process that takes the writer lock moves
    /// them.
    fn catch_up(&mut self) -> Result<()> {
        self.begin_alone().and_then(|()| self.commit_alone())
    }

    fn due(&self) -> Option<Instant> {
        self.ahead.due()
    }

    fn tend(&mut self) {
        if self.ahead.is_intake_wanted() && self.make_intake().is_err() {
            self.ahead.want_no_intake(); // The error was counted.
        }
        if self.ahead.is_due() {
            let _was_counted = self.shelve();
            self.move_log();
        }
    }

    fn close(&mut self) {
        let _was_counted = self.shelve();
    }
}
