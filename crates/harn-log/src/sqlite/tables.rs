//! What is done to the tables, inside of transactions.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{Damage, LogError};
use crate::local::Head;
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::provenance::RECORD_HASH_HEADER;
use crate::record::{Draft, Sealed};

use super::ahead::Synced;
use super::frame::{Frame, Section};
use super::reader::{StoredRow, key};
use super::{intake_of, sqlite_at};

/// The tables as their writer sees them.
pub(super) struct Tables {
    path: PathBuf,
    pub(super) connection: Connection,
    /// What is known of topics. Right as long as nobody else commits.
    topics: HashMap<Topic, KnownTopic>,
    /// The topics whose heads have to be written.
    moved: Vec<Topic>,
    /// Changes when somebody else commits.
    data_version: i64,
    /// Whether somebody else has committed.
    foreign: bool,
    /// Why the transaction under way cannot be committed.
    failed: Option<Arc<LogError>>,
    /// Whether what is committed is synced.
    synced: Synced,
    /// Whether the transaction under way appends anything.
    has_appended: bool,
}

/// How many topics are remembered. A process that opens sessions for ever must not remember them
/// all; what was forgotten is looked up again.
pub(super) const TOPICS_MAX: usize = 4096;

/// How long the write-ahead log may be before a commit moves it into the database; what SQLite
/// does if nobody says anything.
const LOG_PAGES_MAX: u32 = 1000;

/// The same while others commit to the intake, from whom that would take the disk: it is moved
/// when they are done, unless they never are.
const LOG_PAGES_MAX_BESIDE_COMMITS: u32 = 4000;

/// What is known of a topic.
pub(super) struct KnownTopic {
    /// Its number; none before its first record is committed.
    number: Option<i64>,
    pub(super) head: Head,
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

impl Tables {
    /// Tables that are ready for writing.
    pub(super) fn new(path: &Path, connection: Connection) -> Self {
        Self {
            path: path.to_owned(),
            connection,
            topics: HashMap::new(),
            moved: Vec::new(),
            data_version: 0,
            foreign: false,
            failed: None,
            synced: Synced::Yes,
            has_appended: false,
        }
    }

    /// Begins a transaction.
    pub(super) fn begin(&mut self, synced: Synced) -> Result<()> {
        self.failed = None;
        self.has_appended = false;
        let begun = self
            .set_synced(synced)
            .and_then(|()| self.connection.prepare_cached("BEGIN IMMEDIATE"))
            .and_then(|mut begin| begin.execute([]))
            .and_then(|_| self.look_around());
        begun.map_err(|error| sqlite_at(&self.path, error))
    }

    /// Ends a transaction. Gives whether everything in the tables would survive a power cut: a
    /// transaction that changes nothing syncs nothing, whatever was asked for.
    pub(super) fn commit(&mut self) -> Result<Synced> {
        if let Some(failed) = self.failed.take() {
            return Err(LogError::Shared(failed));
        }
        let committed = self.end_transaction();
        committed.map_err(|error| sqlite_at(&self.path, error))?;
        Ok(match self.has_appended {
            true => self.synced,
            false => Synced::No,
        })
    }

    fn set_synced(&mut self, synced: Synced) -> rusqlite::Result<()> {
        if self.synced != synced {
            let (level, pages_max) = match synced {
                Synced::Yes => ("FULL", LOG_PAGES_MAX),
                Synced::No => ("NORMAL", LOG_PAGES_MAX_BESIDE_COMMITS),
            };
            self.connection.pragma_update(None, "synchronous", level)?;
            let name = "wal_autocheckpoint";
            self.connection.pragma_update(None, name, pages_max)?;
            self.synced = synced;
        }
        Ok(())
    }

    /// Whether somebody else has committed since this was last asked.
    pub(super) fn take_foreign(&mut self) -> bool {
        std::mem::take(&mut self.foreign)
    }

    /// Notes that the transaction brings what somebody else has committed.
    pub(super) fn note_foreign(&mut self) {
        self.foreign = true;
    }

    /// Forgets what somebody else may have changed.
    pub(super) fn look_around(&mut self) -> rusqlite::Result<()> {
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
    pub(super) fn part<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<T> {
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
    pub(super) fn topic(&mut self, topic: &Topic) -> rusqlite::Result<&mut KnownTopic> {
        if !self.topics.contains_key(topic) {
            let known = self.look_up(topic)?;
            self.topics.insert(topic.clone(), known);
        }
        Ok(self.topics.get_mut(topic).expect("it was just looked up"))
    }

    fn look_up(&self, topic: &Topic) -> rusqlite::Result<KnownTopic> {
        let (head, number) = head_of(&self.connection, topic)?.unzip();
        let mut keys = self
            .connection
            .prepare_cached("SELECT key FROM event_idempotency_headers WHERE topic = ?1")?;
        let keys = keys.query_map([topic.as_str()], |row| row.get(0))?;
        Ok(KnownTopic {
            number,
            head: head.unwrap_or_default(),
            run: None,
            unwritten: Vec::new(),
            is_moved: false,
            keys: keys.collect::<rusqlite::Result<_>>()?,
        })
    }

    /// Appends records to a topic.
    pub(super) fn insert(
        &mut self,
        topic: &Topic,
        drafts: Vec<Draft>,
    ) -> rusqlite::Result<Vec<Sealed>> {
        self.topic(topic)?;
        self.has_appended |= !drafts.is_empty();
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
            let place = insert.insert(params![
                topic.as_str(),
                key(sealed.id),
                sealed.kind(),
                sealed.payload_json(),
                sealed.headers_json,
                sealed.occurred_at_ms()
            ])?;
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

    /// The first frame of the intake that the tables do not have.
    pub(super) fn next_frame(&mut self) -> Result<u64> {
        self.part(|this| next_frame(&this.connection))
    }

    /// Moves frames here from the intake. Gives the first frame that is not here then.
    pub(super) fn shelve(&mut self, frames: &[Arc<Frame>]) -> Result<u64> {
        let mut next = self.next_frame()?;
        for frame in frames.iter().filter(|frame| frame.sequence >= next) {
            for section in &frame.sections {
                self.shelve_section(frame, section)?;
            }
        }
        if let Some(last) = frames.last().filter(|last| last.sequence >= next) {
            next = last.sequence + 1;
            self.set_next_frame(next)?;
        }
        Ok(next)
    }

    /// The records get the ids that they were given, or they do not follow what is here.
    fn shelve_section(&mut self, frame: &Frame, section: &Section) -> Result<()> {
        let topic = &section.topic;
        let last_id = self.part(|this| Ok(this.topic(topic)?.head.id))?;
        if last_id + 1 != section.first_id {
            let error = Arc::new(misplaced(&self.path, section));
            self.failed = Some(Arc::clone(&error));
            return Err(LogError::Shared(error));
        }
        self.part(|this| this.insert(topic, frame.drafts(section)))?;
        Ok(())
    }

    fn set_next_frame(&mut self, next: u64) -> Result<()> {
        self.part(|this| {
            this.connection
                .prepare_cached("UPDATE intake SET next_frame = ?1")?
                .execute([key(next)])?;
            Ok(())
        })
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
    pub(super) fn register_key(&mut self, topic: &Topic, header: &str) -> Result<()> {
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
    pub(super) fn write_heads(&mut self) -> rusqlite::Result<()> {
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
    pub(super) fn remove_runs(&mut self, topic: &Topic, up_to: EventId) -> rusqlite::Result<usize> {
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
    pub(super) fn roll_back(&mut self) {
        self.topics.clear();
        self.moved.clear();
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

    /// Moves what is new from the write-ahead log into the database itself; `false`
    /// if somebody was in the way.
    pub(super) fn move_log(&self, how: &str) -> Result<bool> {
        let moved =
            self.connection
                .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
                    row.get::<_, i64>(0)
                });
        let is_busy = moved.map_err(|error| sqlite_at(&self.path, error))?;
        Ok(is_busy == 0)
    }
}

/// The newest record of a topic and the number of the topic; `None` if there never was one.
pub(super) fn head_of(
    connection: &Connection,
    topic: &Topic,
) -> rusqlite::Result<Option<(Head, i64)>> {
    connection
        .prepare_cached("SELECT last_id, last_hash, number FROM topic_heads WHERE topic = ?1")?
        .query_row([topic.as_str()], |row| {
            let head = Head {
                id: row.get::<_, i64>(0)?.cast_unsigned(),
                hash: row.get(1)?,
            };
            Ok((head, row.get(2)?))
        })
        .optional()
}

/// The first frame of the intake that the tables do not have.
pub(super) fn next_frame(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT next_frame FROM intake")?
        .query_row([], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))
}

/// What is said of records in the intake that do not follow those in the tables.
fn misplaced(path: &Path, section: &Section) -> LogError {
    let (id, topic) = (section.first_id, &section.topic);
    let problem = format!(
        "record {id} of topic '{topic}' does not follow the records in {}; was one of the two \
         files replaced? Without this one, which may be moved away, the log can be used as it is",
        path.display()
    );
    LogError::Damaged(Damage {
        path: intake_of(path),
        offset: 0,
        length: 0,
        problem,
    })
}

/// What the headers of a record say its hash is.
pub(super) fn hash_among(headers: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LogEvent;
    use crate::sqlite::{SqliteEventLog, connect, writing_flags};

    #[test]
    fn only_a_transaction_that_appends_can_promise_that_everything_is_safe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        drop(SqliteEventLog::open(&path, 16).unwrap());
        let mut tables = Tables::new(&path, connect(&path, writing_flags()).unwrap());
        let topic = Topic::new("t").unwrap();
        let draft = || Draft::new(&topic, LogEvent::at("k", serde_json::json!(1), 0)).unwrap();
        for (asked, drafts, promised) in [
            (Synced::Yes, vec![], Synced::No),
            (Synced::Yes, vec![draft()], Synced::Yes),
            (Synced::No, vec![draft()], Synced::No),
            (Synced::Yes, vec![], Synced::No),
        ] {
            tables.begin(asked).unwrap();
            tables.insert(&topic, drafts).unwrap();
            assert_eq!(tables.commit().unwrap(), promised);
        }
    }
}
