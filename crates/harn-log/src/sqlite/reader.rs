//! What readers of a SQLite log do. They have a connection of their own, so that
//! they never wait for the writer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::event::LogEvent;
use crate::local::{StoreReader, Watched};
use crate::log::{EventLogDescription, LogEventBytes, Result};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::Link;
use crate::record::{Record, Sealed};

use super::ahead::Ahead;
use super::frame::{Frame, Section};
use super::unshelved::records_of;
use super::{folder_of, sqlite_at, wal_of};

/// Bytes of records read at once, about.
const READ_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Reads a log in a SQLite file.
pub(crate) struct SqliteReader {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// What is committed and not in the tables yet.
    ahead: Arc<Ahead>,
    /// What lay in the intake when the log was opened, if nobody here may move it.
    left_behind: Vec<Arc<Frame>>,
}

impl SqliteReader {
    pub(super) fn new(
        path: &Path,
        connection: Connection,
        ahead: Arc<Ahead>,
        left_behind: Vec<Arc<Frame>>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            ahead,
            left_behind,
        }
    }

    /// What is committed and may not be in the tables, to be asked for before they are.
    fn unshelved(&self) -> Vec<Arc<Frame>> {
        let mut frames = self.left_behind.clone();
        if !self.ahead.is_empty() {
            frames.extend(self.ahead.unshelved_frames().0);
        }
        frames
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, error: rusqlite::Error) -> crate::error::LogError {
        sqlite_at(&self.path, error)
    }

    fn rows<T>(
        &self,
        topic: &Topic,
        from: EventId,
        limit: usize,
        read: impl Fn(StoredRow) -> Result<T>,
    ) -> Result<Vec<(EventId, T)>> {
        let Some(first) = from.checked_add(1) else {
            return Ok(Vec::new());
        };
        let frames = self.unshelved();
        let connection = self.lock();
        let has_frames = !frames.is_empty();
        let _one_moment = has_frames
            .then(|| connection.unchecked_transaction())
            .transpose()
            .map_err(|e| self.at(e))?;
        let mut query = connection
            .prepare_cached(StoredRow::FROM)
            .map_err(|e| self.at(e))?;
        let rows_max = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = query.query_map(
            params![topic.as_str(), key(first), rows_max],
            StoredRow::get,
        );
        let mut records = Vec::new();
        let mut bytes = 0;
        for row in rows.map_err(|e| self.at(e))? {
            let row = row.map_err(|e| self.at(e))?;
            bytes += row.payload.len() + row.headers.len();
            records.push((row.id, read(row)?));
            if bytes >= READ_BYTES_MAX {
                return Ok(records);
            }
        }
        let unshelved = records_of(&frames, topic, &connection).map_err(|e| self.at(e))?;
        let room = limit.saturating_sub(records.len());
        for sealed in unshelved.iter().filter(|one| one.id > from).take(room) {
            records.push((sealed.id, read(StoredRow::of(sealed))?));
        }
        Ok(records)
    }
}

/// A record as it is stored.
pub(super) struct StoredRow {
    pub(super) id: EventId,
    kind: String,
    payload: String,
    headers: String,
    occurred_at_ms: i64,
}

impl StoredRow {
    /// The records of a topic from an id on. They are looked for from the run on that has it. If
    /// somebody has removed records by hand, others may lie in their places by now.
    pub(super) const FROM: &str = "
        SELECT event_id, kind, payload, headers, occurred_at_ms
        FROM event_runs CROSS JOIN events
            ON place BETWEEN first_place + max(0, ?2 - first_id)
                AND first_place + (last_id - first_id)
            AND event_id = first_id + (place - first_place)
        WHERE event_runs.topic = (SELECT number FROM topic_heads WHERE topic = ?1)
            AND first_id >= coalesce((
                SELECT max(first_id) FROM event_runs
                WHERE topic = (SELECT number FROM topic_heads WHERE topic = ?1)
                    AND first_id <= ?2), 0)
        ORDER BY first_id, place LIMIT ?3";

    /// The record of a topic that has an id.
    pub(super) const WITH_ID: &str = "
        SELECT event_id, kind, payload, headers, occurred_at_ms FROM events
        WHERE event_id = ?2 AND place = (
            SELECT first_place + (?2 - first_id) FROM event_runs
            WHERE topic = (SELECT number FROM topic_heads WHERE topic = ?1)
                AND first_id <= ?2
            ORDER BY first_id DESC LIMIT 1)";

    pub(super) fn get(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            kind: row.get(1)?,
            payload: row.get(2)?,
            headers: row.get(3)?,
            occurred_at_ms: row.get(4)?,
        })
    }

    /// A record as it would be stored.
    fn of(sealed: &Sealed) -> Self {
        Self {
            id: sealed.id,
            kind: sealed.kind().to_owned(),
            payload: sealed.payload_json().to_owned(),
            headers: sealed.headers_json.clone(),
            occurred_at_ms: sealed.occurred_at_ms(),
        }
    }

    pub(super) fn event(self) -> Result<LogEvent> {
        Ok(LogEvent {
            payload: serde_json::from_str(&self.payload)?,
            headers: serde_json::from_str(&self.headers)?,
            kind: self.kind,
            occurred_at_ms: self.occurred_at_ms,
        })
    }

    fn bytes(self) -> Result<LogEventBytes> {
        Ok(LogEventBytes {
            payload: self.payload.into_bytes(),
            headers: serde_json::from_str(&self.headers)?,
            kind: self.kind,
            occurred_at_ms: self.occurred_at_ms,
        })
    }
}

/// An id as SQLite stores it. Larger ones do not occur, but may be asked for.
pub(super) fn key(id: EventId) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

impl StoreReader for SqliteReader {
    fn read_after(&self, topic: &Topic, from: EventId, limit: usize) -> Result<Vec<Record>> {
        self.rows(topic, from, limit, StoredRow::event)
    }

    fn read_bytes_after(
        &self,
        topic: &Topic,
        from: EventId,
        limit: usize,
    ) -> Result<Vec<(EventId, LogEventBytes)>> {
        self.rows(topic, from, limit, StoredRow::bytes)
    }

    fn latest(&self, topic: &Topic) -> Result<Option<EventId>> {
        let frames = self.unshelved();
        let sections = frames.iter().flat_map(|frame| &frame.sections);
        let unshelved = sections
            .filter(|section| section.topic == *topic)
            .map(Section::last_id);
        let connection = self.lock();
        let head = connection
            .prepare_cached("SELECT last_id FROM topic_heads WHERE topic = ?1 AND last_id > 0")
            .and_then(|mut query| {
                let head = query.query_row([topic.as_str()], |row| row.get::<_, i64>(0));
                head.optional()
            });
        let head = head.map_err(|e| self.at(e))?.map(i64::cast_unsigned);
        Ok(head.max(unshelved.max()))
    }

    fn cursor(&self, topic: &Topic, consumer: &ConsumerId) -> Result<Option<EventId>> {
        let connection = self.lock();
        let cursor = connection
            .prepare_cached("SELECT cursor FROM consumers WHERE topic = ?1 AND consumer_id = ?2")
            .and_then(|mut query| {
                let names = [topic.as_str(), consumer.as_str()];
                query
                    .query_row(names, |row| row.get::<_, i64>(0))
                    .optional()
            });
        Ok(cursor.map_err(|e| self.at(e))?.map(i64::cast_unsigned))
    }

    fn anchor(&self, topic: &Topic) -> Result<Option<Link>> {
        let connection = self.lock();
        let anchor = connection.query_row(
            "SELECT compacted_id, compacted_hash FROM topic_heads
             WHERE topic = ?1 AND compacted_id > 0",
            [topic.as_str()],
            |row| {
                Ok(Link {
                    id: row.get::<_, i64>(0)?.cast_unsigned(),
                    hash: row.get(1)?,
                })
            },
        );
        anchor.optional().map_err(|e| self.at(e))
    }

    fn topics(&self) -> Result<Vec<Topic>> {
        let frames = self.unshelved();
        let connection = self.lock();
        let names = connection
            .prepare("SELECT topic FROM topic_heads WHERE last_id > 0 ORDER BY topic")
            .and_then(|mut query| {
                let names = query.query_map([], |row| row.get::<_, String>(0))?;
                names.collect::<rusqlite::Result<Vec<_>>>()
            });
        let names = names.map_err(|e| self.at(e))?.into_iter();
        let mut topics = names.map(Topic::new).collect::<Result<BTreeSet<_>>>()?;
        let sections = frames.iter().flat_map(|frame| &frame.sections);
        topics.extend(sections.map(|section| section.topic.clone()));
        Ok(topics.into_iter().collect())
    }

    fn describe(&self, queue_depth: usize) -> EventLogDescription {
        let size = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.len());
        let wal = size(&wal_of(&self.path)).unwrap_or(0);
        EventLogDescription {
            backend: "sqlite",
            location: Some(self.path.display().to_string()),
            size_bytes: size(&self.path).ok().map(|size| size + wal),
            queue_depth,
        }
    }

    fn watched(&self) -> Watched {
        Watched {
            folder: folder_of(&self.path).to_owned(),
        }
    }
}
