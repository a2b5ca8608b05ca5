//! Tables, and how older ones become today's.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::LogError;
use crate::log::Result;
use crate::provenance::RECORD_HASH_HEADER;

use super::{BUSY_WAIT, sqlite_at};

/// The version of the tables below, kept in the file's `user_version`. The first
/// version had no number.
const VERSION: i64 = 4;

/// What the first version had.
const FIRST_TABLES: &str = "
    CREATE TABLE topic_heads (
        topic TEXT PRIMARY KEY,
        last_id INTEGER NOT NULL
    );
    CREATE TABLE events (
        topic TEXT NOT NULL,
        event_id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        headers TEXT NOT NULL,
        occurred_at_ms INTEGER NOT NULL,
        PRIMARY KEY (topic, event_id)
    );
    CREATE TABLE consumers (
        topic TEXT NOT NULL,
        consumer_id TEXT NOT NULL,
        cursor INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        PRIMARY KEY (topic, consumer_id)
    );
";

/// What the second added: the hash of the newest record and of the last one that was
/// compacted away, and records that can be found by a header.
const SECOND_TABLES: &str = "
    ALTER TABLE topic_heads ADD COLUMN last_hash TEXT;
    ALTER TABLE topic_heads ADD COLUMN compacted_id INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE topic_heads ADD COLUMN compacted_hash TEXT;
    DROP TABLE IF EXISTS event_idempotency_keys;
    CREATE TABLE event_idempotency_keys (
        topic TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        event_id INTEGER NOT NULL,
        PRIMARY KEY (topic, key, value, event_id)
    ) WITHOUT ROWID;
    CREATE TABLE event_idempotency_headers (
        topic TEXT NOT NULL,
        key TEXT NOT NULL,
        PRIMARY KEY (topic, key)
    ) WITHOUT ROWID;
";

/// What the third changed: an index of all records by topic was a third of what every commit
/// wrote, for it has the name of the topic in each entry, and topics grow all over it. Now records
/// lie in the order in which they came, and of each topic is known which pieces of that order are
/// its own. Numbers that are written down have to be columns: SQLite renumbers rows as it likes.
const THIRD_TABLES: &str = "
    CREATE TABLE new_heads (
        topic TEXT NOT NULL UNIQUE,
        last_id INTEGER NOT NULL,
        last_hash TEXT,
        compacted_id INTEGER NOT NULL DEFAULT 0,
        compacted_hash TEXT,
        number INTEGER PRIMARY KEY
    );
    INSERT INTO new_heads (topic, last_id, last_hash, compacted_id, compacted_hash)
        SELECT topic, last_id, last_hash, compacted_id, compacted_hash
        FROM topic_heads ORDER BY topic;
    DROP TABLE topic_heads;
    ALTER TABLE new_heads RENAME TO topic_heads;
    CREATE TABLE new_events (
        topic TEXT NOT NULL,
        event_id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        headers TEXT NOT NULL,
        occurred_at_ms INTEGER NOT NULL,
        place INTEGER PRIMARY KEY
    );
    INSERT INTO new_events (topic, event_id, kind, payload, headers, occurred_at_ms)
        SELECT topic, event_id, kind, payload, headers, occurred_at_ms
        FROM events ORDER BY topic, event_id;
    DROP TABLE events;
    ALTER TABLE new_events RENAME TO events;
    CREATE TABLE event_runs (
        topic INTEGER NOT NULL,
        first_id INTEGER NOT NULL,
        last_id INTEGER NOT NULL,
        first_place INTEGER NOT NULL,
        PRIMARY KEY (topic, first_id)
    ) WITHOUT ROWID;
    INSERT INTO event_runs
        SELECT number, min(event_id), max(event_id), min(place)
        FROM events JOIN topic_heads USING (topic) GROUP BY number, event_id - place;
";

/// What the fourth added: which frames of the intake the tables have.
const FOURTH_TABLES: &str = "
    CREATE TABLE intake (next_frame INTEGER NOT NULL);
    INSERT INTO intake VALUES (1);
";

/// Makes a file ready for writing: its tables, and how it is synced.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<()> {
    let at = |error| sqlite_at(path, error);
    let mode = switch_to_wal(connection).map_err(at)?;
    if mode != "wal" {
        let problem = format!(
            "{} cannot have a write-ahead log, only '{mode}'; is it on a network drive?",
            path.display()
        );
        return Err(LogError::Config(problem));
    }
    // There are systems whose ordinary sync leaves what the disk has in its cache there.
    let synchronous = "PRAGMA synchronous=FULL; PRAGMA fullfsync=ON";
    connection.execute_batch(synchronous).map_err(at)?;
    if version(connection, path)? == VERSION {
        return Ok(());
    }
    // Somebody else may be doing the same; whoever comes second finds it done.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(at)?;
    let found = version(&transaction, path)?;
    if found == VERSION {
        return Ok(());
    }
    if found == 0 {
        if !has_table(&transaction, "events").map_err(at)? {
            transaction.execute_batch(FIRST_TABLES).map_err(at)?;
        }
        upgrade_to_second(&transaction).map_err(at)?;
    }
    if found < 3 {
        transaction.execute_batch(THIRD_TABLES).map_err(at)?;
    }
    transaction.execute_batch(FOURTH_TABLES).map_err(at)?;
    let numbered = transaction.pragma_update(None, "user_version", VERSION);
    numbered.and_then(|()| transaction.commit()).map_err(at)
}

/// Gives a file a write-ahead log, unless it has one, and tells what it has now. SQLite waits for
/// others everywhere but here: of two processes that open a new file at once, one is told at
/// once that it is locked.
fn switch_to_wal(connection: &Connection) -> rusqlite::Result<String> {
    let until = Instant::now() + BUSY_WAIT;
    loop {
        let switched = connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0));
        match switched {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < until =>
            {
                connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")?; // This one waits.
            }
            switched => return switched,
        }
    }
}

/// Refuses a file that was not made ready.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<()> {
    match version(connection, path)? {
        VERSION => Ok(()),
        _ => {
            let problem = format!(
                "{} is no event log, or one of an earlier version, which has to be opened for writing once",
                path.display()
            );
            Err(LogError::Config(problem))
        }
    }
}

fn version(connection: &Connection, path: &Path) -> Result<i64> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    let version = version.map_err(|error| sqlite_at(path, error))?;
    match version {
        0..=VERSION => Ok(version),
        other => Err(unknown_version(path, other)),
    }
}

fn unknown_version(path: &Path, version: i64) -> LogError {
    let path = path.display();
    LogError::Config(format!(
        "{path} has version {version} of the event log's tables; this program knows up to {VERSION}"
    ))
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let known = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let count: i64 = connection.query_row(known, [name], |row| row.get(0))?;
    Ok(count > 0)
}

/// Brings the first version up to the second.
fn upgrade_to_second(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SECOND_TABLES)?;
    connection.execute(
        "UPDATE topic_heads SET last_hash = (
             SELECT json_extract(headers, '$.\"' || ?1 || '\"') FROM events
             WHERE events.topic = topic_heads.topic AND event_id = last_id)",
        [RECORD_HASH_HEADER],
    )?;
    // Records before the oldest one there is have been compacted away.
    connection.execute_batch(
        "UPDATE topic_heads SET compacted_id = coalesce((
             SELECT min(event_id) - 1 FROM events WHERE events.topic = topic_heads.topic), last_id)",
    )?;
    connection.execute_batch(
        "UPDATE topic_heads SET compacted_hash = (
             SELECT json_extract(headers, '$.\"harn.provenance.prev_hash\"') FROM events
             WHERE events.topic = topic_heads.topic AND event_id = compacted_id + 1)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::reader::StoredRow;

    fn file() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        (folder, path)
    }

    #[test]
    fn a_first_version_is_brought_up_to_date_with_its_records() {
        let (_folder, path) = file();
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch(FIRST_TABLES).unwrap();
        connection
            .execute_batch(
                r#"INSERT INTO topic_heads VALUES ('t', 3), ('gone', 9);
                   INSERT INTO events VALUES
                     ('t', 2, 'k', '{}', '{"harn.provenance.prev_hash":"h1","harn.provenance.record_hash":"h2"}', 1),
                     ('t', 3, 'k', '{}', '{"harn.provenance.prev_hash":"h2","harn.provenance.record_hash":"h3"}', 1)"#,
            )
            .unwrap();
        prepare(&mut connection, &path).unwrap();
        prepare(&mut connection, &path).unwrap();
        let mut query = connection
            .prepare("SELECT * FROM topic_heads ORDER BY topic") // The number comes last.
            .unwrap();
        let heads = query.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get::<_, i64>(3)?,
                row.get::<_, Option<String>>(4)?,
            ))
        });
        let heads: Vec<_> = heads.unwrap().map(|head| head.unwrap()).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            heads,
            [
                ("gone".to_owned(), 9, None, 9, None),
                ("t".to_owned(), 3, text("h3"), 1, text("h1")),
            ]
        );
    }

    /// Every record of a topic, as a reader finds it.
    fn read(path: &Path, topic: &str) -> Vec<(u64, String)> {
        let log = crate::SqliteEventLog::open_read_only(path, 1).unwrap();
        let topic = crate::Topic::new(topic).unwrap();
        let records = crate::block_on(crate::EventLog::read_range(&*log, &topic, None, 100));
        let records = records.unwrap().into_iter();
        records.map(|(id, event)| (id, event.kind)).collect()
    }

    #[test]
    fn a_second_version_is_brought_up_to_date_with_its_records() {
        let (_folder, path) = file();
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch(FIRST_TABLES).unwrap();
        upgrade_to_second(&connection).unwrap();
        // Topics that grew side by side, one of which has lost a record.
        connection
            .execute_batch(
                "INSERT INTO topic_heads (topic, last_id) VALUES ('b', 3), ('a', 5), ('gone', 2);
                 INSERT INTO events VALUES
                     ('b', 1, 'b1', '{}', '{}', 1), ('a', 2, 'a2', '{}', '{}', 1),
                     ('b', 2, 'b2', '{}', '{}', 1), ('a', 3, 'a3', '{}', '{}', 1),
                     ('a', 5, 'a5', '{}', '{}', 1), ('b', 3, 'b3', '{}', '{}', 1);
                 PRAGMA user_version = 2",
            )
            .unwrap();
        let error = check(&connection, &path).unwrap_err().to_string();
        assert!(error.contains("opened for writing once"), "{error}");
        prepare(&mut connection, &path).unwrap();
        let named = |records: Vec<(u64, String)>| -> Vec<String> {
            let records = records.into_iter();
            records.map(|(id, kind)| format!("{id}:{kind}")).collect()
        };
        assert_eq!(named(read(&path, "a")), ["2:a2", "3:a3", "5:a5"]);
        assert_eq!(named(read(&path, "b")), ["1:b1", "2:b2", "3:b3"]);
        assert!(read(&path, "gone").is_empty());
        let runs = "SELECT count(*) FROM event_runs";
        let runs: i64 = connection.query_row(runs, [], |row| row.get(0)).unwrap();
        assert_eq!(runs, 3);
    }

    #[test]
    fn records_are_found_without_looking_at_others() {
        let (_folder, path) = file();
        let mut connection = Connection::open(&path).unwrap();
        prepare(&mut connection, &path).unwrap();
        for query in [StoredRow::FROM, StoredRow::WITH_ID] {
            let explained = format!("EXPLAIN QUERY PLAN {query}");
            let mut plan = connection.prepare(&explained).unwrap();
            let numbers = plan.parameter_count();
            let arguments = rusqlite::params_from_iter(vec![1; numbers]);
            let steps = plan.query_map(arguments, |row| row.get::<_, String>(3));
            let steps: Vec<_> = steps.unwrap().map(|step| step.unwrap()).collect();
            let is_bad = |step: &String| step.contains("SCAN") || step.contains("TEMP B-TREE");
            assert!(!steps.iter().any(is_bad), "{steps:#?}");
            assert!(steps.iter().any(|step| step.contains("SEARCH events")));
        }
    }

    #[test]
    fn a_later_version_is_refused() {
        let (_folder, path) = file();
        let mut connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 7).unwrap();
        let error = prepare(&mut connection, &path).unwrap_err().to_string();
        assert!(error.contains("has version 7"), "{error}");
        let error = check(&connection, &path).unwrap_err().to_string();
        assert!(error.contains("knows up to 4"), "{error}");
    }

    #[test]
    fn what_is_committed_is_synced() {
        let (_folder, path) = file();
        let mut connection = Connection::open(&path).unwrap();
        prepare(&mut connection, &path).unwrap();
        let pragma = |name| -> i64 { connection.query_row(name, [], |row| row.get(0)).unwrap() };
        assert_eq!(pragma("PRAGMA synchronous"), 2);
        let mode: String = connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
    }
}
