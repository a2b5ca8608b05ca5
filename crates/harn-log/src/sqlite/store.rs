//! What the writer of a SQLite log does: a group of changes is a transaction.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use crate::clock::now_ms;
use crate::error::LogError;
use crate::local::{Affected, Counters, CursorMove, Durability, Head, Store};
use crate::log::{CompactReport, Result};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::RECORD_HASH_HEADER;
use crate::record::{Draft, Record, Sealed};

use super::reader::{SqliteReader, StoredRow, key};
use super::{Access, bell_of, sqlite_at, wal_of};

/// The largest text SQLite takes, with room for the rest of the row.
const PAYLOAD_BYTES_MAX: usize = 900_000_000;

/// The SQLite backend as its writer sees it.
pub(crate) struct SqliteStore {
    path: PathBuf,
    connection: Connection,
    access: Access,
    reader: Arc<SqliteReader>,
    counters: Arc<Counters>,
    /// What is known of topics. Right as long as nobody else commits.
    topics: HashMap<Topic, KnownTopic>,
    /// The topics whose heads have to be written.
    moved: Vec<Topic>,
    /// Changes when somebody else commits.
    data_version: i64,
    /// Why the transaction under way cannot be committed.
    failed: Option<Arc<LogError>>,
    foreign: bool,
    /// Rung after each commit; made by the first.
    bell: Option<File>,
    records: usize,
    bytes: usize,
}

/// How many topics are remembered. A process that opens sessions for ever must not remember them
/// all; what was forgotten is looked up again.
const TOPICS_MAX: usize = 4096;

/// What is known of a topic.
struct KnownTopic {
    head: Head,
    /// Whether it is among those whose heads have to be written.
    is_moved: bool,
    /// Headers by which records can be found.
    keys: BTreeSet<String>,
}

impl SqliteStore {
    pub(super) fn new(
        path: &Path,
        connection: Connection,
        access: Access,
        reader: Arc<SqliteReader>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            connection,
            access,
            reader,
            counters: Arc::new(Counters::default()),
            topics: HashMap::new(),
            moved: Vec::new(),
            data_version: 0,
            failed: None,
            foreign: false,
            bell: None,
            records: 0,
            bytes: 0,
        }
    }

    /// Forgets what somebody else may have changed.
    fn look_around(&mut self) -> rusqlite::Result<()> {
        let mut query = self.connection.prepare_cached("PRAGMA data_version")?;
        let data_version = query.query_row([], |row| row.get(0))?;
        if self.data_version != data_version {
            self.data_version = data_version;
            self.topics.clear();
            self.foreign = true;
        }
        Ok(())
    }

    /// Runs a part of the transaction. If it fails the whole transaction does, for
    /// nobody knows how far it came.
    fn part<T>(&mut self, part: impl FnOnce(&mut Self) -> rusqlite::Result<T>) -> Result<T> {
        if let Some(failed) = &self.failed {
            return Err(LogError::Shared(Arc::clone(failed)));
        }
        part(self).map_err(|error| {
            let error = Arc::new(sqlite_at(&self.path, error));
            self.failed = Some(Arc::clone(&error));
            LogError::Shared(error)
        })
    }

    /// What is known of a topic, looked up if need be.
    fn topic(&mut self, topic: &Topic) -> rusqlite::Result<&mut KnownTopic> {
        if !self.topics.contains_key(topic) {
            let known = self.look_up(topic)?;
            self.topics.insert(topic.clone(), known);
        }
        Ok(self.topics.get_mut(topic).expect("it was just looked up"))
    }

    fn look_up(&self, topic: &Topic) -> rusqlite::Result<KnownTopic> {
        let head = self
            .connection
            .prepare_cached("SELECT last_id, last_hash FROM topic_heads WHERE topic = ?1")?
            .query_row([topic.as_str()], |row| {
                Ok(Head {
                    id: row.get::<_, i64>(0)?.cast_unsigned(),
                    hash: row.get(1)?,
                })
            })
            .optional()?;
        let mut keys = self
            .connection
            .prepare_cached("SELECT key FROM event_idempotency_headers WHERE topic = ?1")?;
        let keys = keys.query_map([topic.as_str()], |row| row.get(0))?;
        Ok(KnownTopic {
            head: head.unwrap_or_default(),
            is_moved: false,
            keys: keys.collect::<rusqlite::Result<_>>()?,
        })
    }

    fn insert(&mut self, topic: &Topic, draft: Draft) -> rusqlite::Result<Sealed> {
        let known = self.topic(topic)?;
        let sealed = draft.seal(known.head.id + 1, known.head.hash.as_deref());
        known.head = Head {
            id: sealed.id,
            hash: Some(sealed.hash().to_owned()),
        };
        let is_news = !std::mem::replace(&mut known.is_moved, true);
        let keys = known.keys.iter();
        let keys: Vec<_> = keys.filter_map(|name| sealed.key(name)).collect();
        if is_news {
            self.moved.push(topic.clone());
        }
        self.connection
            .prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                topic.as_str(),
                key(sealed.id),
                sealed.kind(),
                sealed.payload_json(),
                sealed.headers_json,
                sealed.occurred_at_ms()
            ])?;
        for (header, value) in keys {
            self.insert_key(topic, header, value, sealed.id)?;
        }
        self.records += 1;
        self.bytes += sealed.payload_json().len() + sealed.headers_json.len() + sealed.kind().len();
        Ok(sealed)
    }

    fn insert_key(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        id: EventId,
    ) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("INSERT OR IGNORE INTO event_idempotency_keys VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![topic.as_str(), header, value, key(id)])?;
        Ok(())
    }

    /// Makes records findable by a header, those that are there and those that come.
    fn register_key(&mut self, topic: &Topic, header: &str) -> Result<()> {
        if self.part(|this| Ok(this.topic(topic)?.keys.contains(header)))? {
            return Ok(());
        }
        let stored = self.part(|this| {
            this.connection.execute(
                "INSERT OR IGNORE INTO event_idempotency_headers VALUES (?1, ?2)",
                [topic.as_str(), header],
            )?;
            this.topic(topic)?.keys.insert(header.to_owned());
            let mut query = this.connection.prepare(
                "SELECT event_id, headers FROM events WHERE topic = ?1 ORDER BY event_id",
            )?;
            let rows = query.query_map([topic.as_str()], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(EventId, String)>>>()
        })?;
        for (id, headers) in stored {
            let headers: HashMap<String, String> = serde_json::from_str(&headers)?;
            if let Some(value) = headers.get(header) {
                self.part(|this| this.insert_key(topic, header, value, id))?;
            }
        }
        Ok(())
    }

    fn write_heads(&mut self) -> rusqlite::Result<()> {
        for topic in std::mem::take(&mut self.moved) {
            let Some(known) = self.topics.get_mut(&topic) else {
                continue;
            };
            known.is_moved = false;
            self.connection
                .prepare_cached(
                    "INSERT INTO topic_heads (topic, last_id, last_hash) VALUES (?1, ?2, ?3)
                     ON CONFLICT (topic) DO UPDATE SET last_id = ?2, last_hash = ?3",
                )?
                .execute(params![topic.as_str(), key(known.head.id), known.head.hash])?;
        }
        Ok(())
    }

    /// Gives up the transaction under way.
    fn roll_back(&mut self) {
        self.topics.clear();
        self.moved.clear();
        (self.records, self.bytes) = (0, 0);
        if !self.connection.is_autocommit() {
            // Should this fail as well, the next transaction cannot begin and says why.
            let _the_next_one_says = self.connection.execute_batch("ROLLBACK");
        }
    }

    fn end_transaction(&mut self) -> rusqlite::Result<()> {
        self.write_heads()?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        if self.topics.len() > TOPICS_MAX {
            self.topics.clear();
        }
        Ok(())
    }

    /// Lets other processes hear that there is something new.
    fn ring(&mut self) -> std::io::Result<()> {
        let bell = match &mut self.bell {
            Some(bell) => bell,
            none => {
                let mut options = File::options();
                let options = options.write(true).create(true).truncate(false);
                none.insert(options.open(bell_of(&self.path))?)
            }
        };
        bell.seek(SeekFrom::Start(0))?;
        bell.write_all(b"!")
    }

    /// Moves what is new from the write-ahead log into the database itself; `false`
    /// if somebody was in the way.
    fn move_log(&self, how: &str) -> Result<bool> {
        let moved =
            self.connection
                .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
                    row.get::<_, i64>(0)
                });
        let is_busy = moved.map_err(|error| sqlite_at(&self.path, error))?;
        Ok(is_busy == 0)
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
        self.failed = None;
        let begun = self
            .connection
            .prepare_cached("BEGIN IMMEDIATE")
            .and_then(|mut begin| begin.execute([]))
            .and_then(|_| self.look_around());
        begun.map_err(|error| {
            self.roll_back();
            let error = sqlite_at(&self.path, error);
            self.counters.note_failure(&error);
            error
        })
    }

    fn commit(&mut self) -> Result<()> {
        let committed = match self.failed.take() {
            Some(failed) => Err(LogError::Shared(failed)),
            None => self
                .end_transaction()
                .map_err(|error| sqlite_at(&self.path, error)),
        };
        match committed {
            Ok(()) => {
                self.counters.note_records(self.records, self.bytes);
                (self.records, self.bytes) = (0, 0);
                // What is committed is committed, whether or not anybody hears of it.
                if let Err(error) = self.ring() {
                    self.counters.note_failure(&error.into());
                }
                Ok(())
            }
            Err(error) => {
                self.roll_back();
                self.counters.note_failure(&error);
                Err(error)
            }
        }
    }

    fn append_one(&mut self, topic: &Topic, draft: Draft) -> Result<Sealed> {
        draft.check_size(PAYLOAD_BYTES_MAX)?;
        self.part(|this| this.insert(topic, draft))
    }

    fn append(&mut self, topic: &Topic, drafts: Vec<Draft>) -> Result<Vec<Sealed>> {
        for draft in &drafts {
            draft.check_size(PAYLOAD_BYTES_MAX)?;
        }
        self.part(|this| {
            let inserted = drafts.into_iter().map(|draft| this.insert(topic, draft));
            inserted.collect()
        })
    }

    fn head(&mut self, topic: &Topic) -> Result<Head> {
        self.part(|this| Ok(this.topic(topic)?.head.clone()))
    }

    fn find(&mut self, topic: &Topic, header: &str, value: &str) -> Result<Option<Record>> {
        self.register_key(topic, header)?;
        let row = self.part(|this| {
            this.connection
                .prepare_cached(
                    "SELECT event_id, kind, payload, headers, occurred_at_ms FROM events
                     WHERE topic = ?1 AND event_id = (
                         SELECT min(event_id) FROM event_idempotency_keys
                         WHERE topic = ?1 AND key = ?2 AND value = ?3)",
                )?
                .query_row([topic.as_str(), header, value], StoredRow::get)
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
        self.part(|this| {
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
        let lowest = self.part(|this| {
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
        self.part(|this| {
            this.write_heads()?;
            let last_hash: Option<String> = this
                .connection
                .query_row(
                    "SELECT json_extract(headers, '$.\"' || ?3 || '\"') FROM events
                     WHERE topic = ?1 AND event_id = ?2",
                    params![topic.as_str(), key(before), RECORD_HASH_HEADER],
                    |row| row.get(0),
                )
                .optional()?
                .flatten();
            let range = params![topic.as_str(), key(before)];
            let removed = this.connection.execute(
                "DELETE FROM events WHERE topic = ?1 AND event_id <= ?2",
                range,
            )?;
            this.connection.execute(
                "DELETE FROM event_idempotency_keys WHERE topic = ?1 AND event_id <= ?2",
                range,
            )?;
            if removed > 0 {
                this.connection.execute(
                    "UPDATE topic_heads SET compacted_id = ?2, compacted_hash = ?3 WHERE topic = ?1",
                    params![topic.as_str(), key(before), last_hash],
                )?;
            }
            let remaining: i64 = this.connection.query_row(
                "SELECT count(*) FROM events WHERE topic = ?1",
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
        self.move_log("TRUNCATE")
    }

    fn checkpoint(&mut self) -> Result<()> {
        match self.access {
            // Readers in the way keep the log from being moved, not from being safe.
            Access::Write => self.move_log("FULL").map(drop),
            Access::Read => Ok(()),
        }
    }

    fn heard(&mut self, file_name: &str) -> Affected {
        let is_ours = |path: &Path| path.file_name().is_some_and(|name| name == file_name);
        let is_named = !file_name.is_empty();
        if is_named && !is_ours(&bell_of(&self.path)) && !is_ours(&wal_of(&self.path)) {
            return Affected::Nobody;
        }
        let looked = self.look_around();
        let is_foreign = std::mem::take(&mut self.foreign);
        match looked.is_err() || is_foreign {
            true => Affected::All,
            false => Affected::Nobody,
        }
    }

    fn take_foreign(&mut self) -> Affected {
        match std::mem::take(&mut self.foreign) {
            true => Affected::All,
            false => Affected::Nobody,
        }
    }

    fn recover(&mut self) -> Result<()> {
        self.roll_back();
        Ok(())
    }
}
