//! What only a log in a SQLite file promises.

use std::path::Path;
use std::sync::mpsc;

use harn_log::{Batch, CompactForce, EventLog, Joined, LogError, SqliteEventLog, join};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{Driver, LIMIT, block_on, draft, event, next, topic};

fn place() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite");
    (folder, path)
}

fn open(path: &Path) -> Driver<SqliteEventLog> {
    Driver(SqliteEventLog::open(path, 16).unwrap())
}

#[test]
fn a_log_opened_for_reading_is_read_and_followed_and_not_changed() {
    let (_folder, path) = place();
    let writer = open(&path);
    writer.append_numbers(&topic("t"), 2);
    let reader = Driver(SqliteEventLog::open_read_only(&path, 16).unwrap());
    let mut stream = reader.subscribe(&topic("t"), None);
    assert_eq!(next(&mut stream).0, 1);
    assert_eq!(next(&mut stream).0, 2);
    writer.append(&topic("t"), event(3));
    assert_eq!(next(&mut stream).0, 3);
    let error = block_on(reader.0.append(&topic("t"), event(4))).unwrap_err();
    assert_eq!(error.to_string(), "the log was opened for reading only");
    block_on(reader.0.flush()).unwrap();
    assert!(reader.verify(&topic("t")).verified);
}

#[test]
fn a_file_that_is_missing_or_no_log_is_named() {
    let (folder, path) = place();
    let refused = |path: &Path| match SqliteEventLog::open_read_only(path, 16) {
        Ok(_) => panic!("it opened"),
        Err(error) => error.to_string(),
    };
    let error = refused(&path);
    assert!(error.contains("events.sqlite"), "{error}");
    assert!(!path.exists(), "nothing is made");

    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, but long enough to look at".repeat(40),
    )
    .unwrap();
    for error in [
        refused(&text),
        SqliteEventLog::open(&text, 16).err().unwrap().to_string(),
    ] {
        assert!(error.contains("notes.txt"), "{error}");
        assert!(error.contains("not a database"), "{error}");
    }

    let other = folder.path().join("other.sqlite");
    let database = Connection::open(&other).unwrap();
    database.execute_batch("CREATE TABLE x (y)").unwrap();
    let error = refused(&other);
    assert!(error.contains("is no event log"), "{error}");
}

/// 5.3: a flush moves everything into the file itself.
#[test]
fn after_a_flush_the_file_alone_is_the_log() {
    let (folder, path) = place();
    let log = open(&path);
    log.append_numbers(&topic("t"), 10);
    block_on(log.0.flush()).unwrap();
    let copy = folder.path().join("copy.sqlite");
    std::fs::copy(&path, &copy).unwrap();
    let copied = open(&copy);
    assert_eq!(copied.latest(&topic("t")), Some(10));
    assert!(copied.verify(&topic("t")).verified);
}

/// 5.3: a compaction is followed by a truncating checkpoint.
#[test]
fn a_compaction_gives_back_the_write_ahead_log() {
    let (folder, path) = place();
    let log = open(&path);
    log.append_numbers(&topic("t"), 100);
    let report = log.compact(&topic("t"), 90, CompactForce::Respect).unwrap();
    assert!(report.checkpointed);
    let wal = std::fs::metadata(folder.path().join("events.sqlite-wal")).unwrap();
    assert_eq!(wal.len(), 0);
    let nothing = log.compact(&topic("t"), 90, CompactForce::Respect).unwrap();
    assert_eq!((nothing.removed, nothing.checkpointed), (0, false));
}

#[test]
fn somebody_elses_transaction_is_waited_for() {
    let (_folder, path) = place();
    let log = open(&path);
    log.append(&topic("t"), event(1));
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (says, hears) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| says.send(log.append(&topic("t"), event(2))).unwrap());
        // Whether it has begun to wait or not, it does not get through.
        assert!(hears.try_recv().is_err());
        other.execute_batch("COMMIT").unwrap();
        assert_eq!(hears.recv_timeout(LIMIT), Ok(2));
    });
}

#[test]
fn a_table_that_is_gone_fails_the_whole_group_and_leaves_nothing() {
    let (_folder, path) = place();
    let log = open(&path);
    log.append(&topic("t"), event(1));
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("ALTER TABLE topic_heads RENAME TO hidden")
        .unwrap();
    let error = block_on(log.0.append(&topic("t"), event(2))).unwrap_err();
    assert!(error.to_string().contains("events.sqlite"), "{error}");
    assert!(error.to_string().contains("topic_heads"), "{error}");
    assert!(!error.is_transient());
    assert_eq!(log.0.health().failures, 1);
    other
        .execute_batch("ALTER TABLE hidden RENAME TO topic_heads")
        .unwrap();
    assert_eq!(log.append(&topic("t"), event(2)), 2);
    assert!(log.verify(&topic("t")).verified);
    assert_eq!(log.ids(&topic("t"), None, 9), [1, 2]);
}

#[test]
fn groups_share_transactions() {
    let (_folder, path) = place();
    let log = open(&path);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| log.append_numbers(&topic("t"), 20));
        }
    });
    let health = log.0.health();
    assert_eq!(health.records_appended, 320);
    assert!(health.groups < 300, "{} groups", health.groups);
}

#[test]
fn batches_of_several_topics_share_a_transaction() {
    let (_folder, path) = place();
    let log = open(&path);
    let drafts = ["a", "b", "c"].map(|name| [1, 2].map(|n| draft(&topic(name), event(n))));
    let batches = Batch::by_topic(drafts.into_iter().flatten());
    let appended = block_on(log.0.append_batches(&batches));
    assert!(
        appended
            .iter()
            .all(|ids| ids.as_deref().is_ok_and(|ids| ids == [1, 2]))
    );
    assert_eq!(log.0.health().groups, 1);
}

#[test]
fn a_record_that_is_too_deep_is_refused_by_itself() {
    let (_folder, path) = place();
    let log = open(&path);
    let deep = (0..200).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
    let mut too_deep = event(1);
    too_deep.payload = deep;
    let error = block_on(log.0.append(&topic("t"), too_deep)).unwrap_err();
    assert!(matches!(error, LogError::TooDeep { .. }), "{error}");
    assert_eq!(log.append(&topic("t"), event(1)), 1);
}

#[test]
fn more_topics_than_are_remembered_go_on_where_they_were() {
    /// More than the writer remembers.
    const TOPICS: usize = 4200;
    let (_folder, path) = place();
    let log = open(&path);
    let topics: Vec<_> = (0..TOPICS).map(|n| topic(&format!("t{n}"))).collect();
    let ids: Vec<u64> = topics.iter().map(|it| log.append(it, event(1))).collect();
    assert!(ids.iter().all(|id| *id == 1));
    for topic in [&topics[0], &topics[TOPICS - 1]] {
        assert_eq!(log.append(topic, event(2)), 2);
        assert!(log.verify(topic).verified);
    }
}

/// The page of the book about files of logs.
const PAGE: &str = include_str!("../../../../docs/src/formats/event-log-files.md");

#[test]
fn the_query_of_the_book_finds_the_records_of_a_topic() {
    let (_folder, path) = place();
    let log = open(&path);
    let (orders, others) = (topic("orders"), topic("others"));
    for number in 1..=60 {
        log.append(&orders, event(2 * number - 1));
        log.append(&orders, event(2 * number));
        log.append(&others, event(number));
    }
    let start = PAGE.find("-- What `harn events` reads").unwrap();
    let query = PAGE[start..].split("```").next().unwrap();
    let connection = Connection::open(&path).unwrap();
    let found = |query: &str| -> Vec<(i64, String)> {
        let mut query = connection.prepare(query).unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(2)?)));
        rows.unwrap().map(|row| row.unwrap()).collect()
    };
    let expected: Vec<_> = (100..=120)
        .map(|n| (n, format!(r#"{{"n":{n}}}"#)))
        .collect();
    assert_eq!(found(query), expected);
    let simple = "SELECT event_id, kind, payload FROM events
        WHERE topic = 'orders' AND event_id >= 100 ORDER BY event_id";
    assert_eq!(found(simple), expected);
}

#[test]
fn records_that_come_together_are_one_run_and_others_start_a_new_one() {
    let (_folder, path) = place();
    let log = open(&path);
    let (one, two) = (topic("one"), topic("two"));
    let connection = Connection::open(&path).unwrap();
    let runs = || -> Vec<(String, i64, i64)> {
        let mut query = connection
            .prepare(
                "SELECT topic_heads.topic, first_id, event_runs.last_id
                 FROM event_runs JOIN topic_heads ON number = event_runs.topic
                 ORDER BY topic_heads.topic, first_id",
            )
            .unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(|row| row.unwrap()).collect()
    };
    let run = |name: &str, first, last| (name.to_owned(), first, last);
    log.append_numbers(&one, 3);
    assert_eq!(runs(), [run("one", 1, 3)], "nobody came in between");
    log.append_numbers(&two, 2);
    log.append_numbers(&one, 2);
    let expected = [run("one", 1, 3), run("one", 4, 5), run("two", 1, 2)];
    assert_eq!(runs(), expected);
    log.compact_read(&one, 4);
    assert_eq!(runs(), [run("one", 5, 5), run("two", 1, 2)]);
    log.append_numbers(&one, 1);
    let ids: Vec<_> = log.read_all(&one).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [5, 6]);
    assert!(log.verify(&one).verified && log.verify(&two).verified);
}

#[test]
fn a_record_that_was_removed_by_hand_is_missed_and_no_other_is_taken_for_it() {
    let (_folder, path) = place();
    let log = open(&path);
    let (one, two) = (topic("one"), topic("two"));
    log.append_numbers(&one, 3);
    Connection::open(&path)
        .and_then(|other| other.execute("DELETE FROM events WHERE event_id = 3", []))
        .unwrap();
    log.append(&two, event(1));
    log.append(&one, event(4));
    let ids = |topic| -> Vec<_> { log.read_all(topic).into_iter().map(|(id, _)| id).collect() };
    assert_eq!(ids(&one), [1, 2, 4]);
    assert_eq!(ids(&two), [1]);
    assert!(!log.verify(&one).verified);
    assert!(log.verify(&two).verified);
}

#[test]
fn what_a_group_has_appended_is_found_in_the_same_group() {
    let (_folder, path) = place();
    let log = open(&path);
    let (first, keyed) = (topic("first"), topic("keyed"));
    // While somebody else writes, everything waits, and what waits becomes one group.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let once = |number| {
        let event = event(number);
        let appending = log.0.append_idempotent_by_header(&keyed, "key", "k", event);
        Box::pin(async { appending.await.unwrap().inserted }) as Joined<'_, bool>
    };
    let waiting = vec![
        Box::pin(async { log.0.append(&first, event(1)).await.is_ok() }) as Joined<'_, bool>,
        once(1),
        once(2),
        Box::pin(async move { other.execute_batch("COMMIT").is_ok() }),
    ];
    assert_eq!(block_on(join(waiting)), [true, true, false, true]);
    assert_eq!(log.read_all(&keyed).len(), 1);
}
