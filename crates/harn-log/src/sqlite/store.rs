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
    /// Its number; none before its first record is committed.
    number: Option<i64>,
    head: Head,
    /// Where its newest records are.
    run: Option<Run>,
    /// Earlier runs that have to be written.
    unwritten: Vec<Run>,
    /// Whether it is among those whose heads have to be written.
    is_moved: bool,
    /// Headers by which records can be found.
    keys: BTreeSet<String>,
}

/// Records of a topic that lie next to each other.
#[derive(Clone, Copy)]
struct Run {
    first_id: EventId,
    last_id: EventId,
    /// Where the first of them lies.
    first_place: i64,
}

impl Run {
    /// The run with the next record, which lies at `place`, if that is next to it.
    fn extended(self, place: i64) -> Option<Self> {
        let count = self.last_id - self.first_id + 1;
        let is_next = place == self.first_place + key(count);
        is_next.then_some(Self {
            last_id: self.last_id + 1,
            ..self
        })
    }
}

impl KnownTopic {
    /// Notes a new record. Whether there is a head to be written of which nobody knew.
    fn note(&mut self, sealed: &Sealed, place: i64) -> bool {
        self.head.id = sealed.id;
        match &mut self.head.hash {
            Some(hash) => sealed.hash().clone_into(hash),
            none => *none = Some(sealed.hash().to_owned()),
        }
        let new = Run {
            first_id: sealed.id,
            last_id: sealed.id,
            first_place: place,
        };
        match self.run.and_then(|run| run.extended(place)) {
            None if self.is_moved => self.unwritten.extend(self.run.replace(new)),
            extended => self.run = Some(extended.unwrap_or(new)),
        }
        !std::mem::replace(&mut self.is_moved, true)
    }
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
            .prepare_cached("SELECT last_id, last_hash, number FROM topic_heads WHERE topic = ?1")?
            .query_row([topic.as_str()], |row| {
                let head = Head {
                    id: row.get::<_, i64>(0)?.cast_unsigned(),
                    hash: row.get(1)?,
                };
                Ok((head, row.get(2)?))
            })
            .optional()?;
        let (head, number) =
            head.map_or_else(Default::default, |(head, number)| (head, Some(number)));
        let mut keys = self
            .connection
            .prepare_cached("SELECT key FROM event_idempotency_headers WHERE topic = ?1")?;
        let keys = keys.query_map([topic.as_str()], |row| row.get(0))?;
        Ok(KnownTopic {
            number,
            head,
            run: None,
            unwritten: Vec::new(),
            is_moved: false,
            keys: keys.collect::<rusqlite::Result<_>>()?,
        })
    }

    fn insert(&mut self, topic: &Topic, drafts: Vec<Draft>) -> rusqlite::Result<Vec<Sealed>> {
        self.topic(topic)?;
        let known = self.topics.get_mut(topic);
        let known = known.expect("it was just looked up");
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO events (topic, event_id, kind, payload, headers, occurred_at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let mut inserted = Vec::with_capacity(drafts.len());
        let mut keyed = Vec::new();
        for draft in drafts {
            let sealed = draft.seal(known.head.id + 1, known.head.hash.as_deref());
            let (payload, headers) = (sealed.payload_json(), &sealed.headers_json);
            let place = insert.insert(params![
                topic.as_str(),
                key(sealed.id),
                sealed.kind(),
                payload,
                headers,
                sealed.occurred_at_ms()
            ])?;
            self.records += 1;
            self.bytes += payload.len() + headers.len() + sealed.kind().len();
            if known.note(&sealed, place) {
                self.moved.push(topic.clone());
            }
            if known.keys.iter().any(|name| sealed.header(name).is_some()) {
                keyed.push(sealed.clone());
            }
            inserted.push(sealed);
        }
        drop(insert);
        if !keyed.is_empty() {
            self.insert_keys(topic, &keyed)?;
        }
        Ok(inserted)
    }

    /// Makes records findable by the headers that somebody looks for.
    fn insert_keys(&mut self, topic: &Topic, records: &[Sealed]) -> rusqlite::Result<()> {
        let names = self.topic(topic)?.keys.clone();
        for record in records {
            for name in &names {
                if let Some(value) = record.header(name) {
                    self.insert_key(topic, name, value, record.id)?;
                }
            }
        }
        Ok(())
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
            let mut query = this.connection.prepare(StoredRow::FROM)?;
            let rows = query.query_map(params![topic.as_str(), 0, i64::MAX], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(3)?))
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

    /// Writes down where topics end, and where their new records are.
    fn write_heads(&mut self) -> rusqlite::Result<()> {
        for topic in std::mem::take(&mut self.moved) {
            let Some(known) = self.topics.get_mut(&topic) else {
                continue;
            };
            known.is_moved = false;
            let (last_id, last_hash) = (key(known.head.id), &known.head.hash);
            let number = match known.number {
                Some(number) => {
                    self.connection
                        .prepare_cached(
                            "UPDATE topic_heads SET last_id = ?2, last_hash = ?3 WHERE number = ?1",
                        )?
                        .execute(params![number, last_id, last_hash])?;
                    number
                }
                None => self
                    .connection
                    .prepare_cached(
                        "INSERT INTO topic_heads (topic, last_id, last_hash) VALUES (?1, ?2, ?3)",
                    )?
                    .insert(params![topic.as_str(), last_id, last_hash])?,
            };
            known.number = Some(number);
            for run in known.unwritten.drain(..).chain(known.run) {
                write_run(&self.connection, number, run)?;
            }
        }
        Ok(())
    }

    /// Removes the records of a topic up to an id; tells how many there were.
    fn remove_runs(&mut self, topic: &Topic, up_to: EventId) -> rusqlite::Result<usize> {
        let known = self.topic(topic)?;
        let Some(number) = known.number else {
            return Ok(0);
        };
        known.run = None; // It may be among them.
        let mut query = self.connection.prepare_cached(
            "SELECT first_id, last_id, first_place FROM event_runs
             WHERE topic = ?1 AND first_id <= ?2",
        )?;
        let runs = query.query_map(params![number, key(up_to)], |row| {
            Ok(Run {
                first_id: row.get::<_, i64>(0)?.cast_unsigned(),
                last_id: row.get::<_, i64>(1)?.cast_unsigned(),
                first_place: row.get(2)?,
            })
        })?;
        let mut removed = 0;
        for run in runs.collect::<rusqlite::Result<Vec<_>>>()? {
            let last_id = run.last_id.min(up_to);
            let last_place = run.first_place + key(last_id - run.first_id);
            removed += self.connection.execute(
                "DELETE FROM events WHERE place BETWEEN ?1 AND ?2",
                [run.first_place, last_place],
            )?;
            self.connection.execute(
                "DELETE FROM event_runs WHERE topic = ?1 AND first_id = ?2",
                [number, key(run.first_id)],
            )?;
            if last_id < run.last_id {
                let rest = Run {
                    first_id: last_id + 1,
                    first_place: last_place + 1,
                    ..run
                };
                write_run(&self.connection, number, rest)?;
            }
        }
        Ok(removed)
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

/// What the headers of a record say its hash is.
fn hash_among(headers: &str) -> Option<String> {
    let headers: HashMap<String, String> = serde_json::from_str(headers).ok()?;
    headers.get(RECORD_HASH_HEADER).cloned()
}

/// Writes down where records are, or that there are more of them.
fn write_run(connection: &Connection, topic: i64, run: Run) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO event_runs (topic, first_id, last_id, first_place) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (topic, first_id) DO UPDATE SET last_id = ?3",
        )?
        .execute(params![
            topic,
            key(run.first_id),
            key(run.last_id),
            run.first_place
        ])?;
    Ok(())
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
        let sealed = self.part(|this| this.insert(topic, vec![draft]))?;
        Ok(sealed.into_iter().next().expect("one was inserted"))
    }

    fn append(&mut self, topic: &Topic, drafts: Vec<Draft>) -> Result<Vec<Sealed>> {
        for draft in &drafts {
            draft.check_size(PAYLOAD_BYTES_MAX)?;
        }
        self.part(|this| this.insert(topic, drafts))
    }

    fn head(&mut self, topic: &Topic) -> Result<Head> {
        self.part(|this| Ok(this.topic(topic)?.head.clone()))
    }

    fn find(&mut self, topic: &Topic, header: &str, value: &str) -> Result<Option<Record>> {
        // What this group has appended is looked for as well.
        self.part(Self::write_heads)?;
        self.register_key(topic, header)?;
        let row = self.part(|this| {
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
