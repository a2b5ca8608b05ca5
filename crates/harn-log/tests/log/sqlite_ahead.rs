//! Commits to a SQLite log that do not wait for its tables.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use harn_log::{AnyEventLog, Batch, EventId, EventLog, SqliteEventLog, Topic};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{Bell, Driver, block_on, draft, event, next, number, poll_with, topic};

/// Tells a child which log to write to.
const TASK: &str = "HARN_LOG_TEST_AHEAD";

/// More than it takes until a log has an intake.
const TRIES: u64 = 100;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.sqlite");
    (folder, path)
}

fn open(path: &Path) -> Driver<AnyEventLog> {
    Driver(Arc::new(AnyEventLog::Sqlite(
        SqliteEventLog::open(path, 16).unwrap(),
    )))
}

/// Commits a record on this thread, if that is possible.
fn commit_here(log: &Driver<AnyEventLog>, topic: &Topic, number: u64) -> Option<EventId> {
    let batches = Batch::by_topic([draft(topic, event(number))]);
    let committed = log.0.append_batches_here(&batches)?;
    let [ids] = &committed[..] else {
        panic!("one batch was given");
    };
    Some(ids.as_ref().unwrap()[0])
}

/// Commits a record on this thread, or has the writer do it.
fn commit(log: &Driver<AnyEventLog>, topic: &Topic, number: u64) -> EventId {
    commit_here(log, topic, number).unwrap_or_else(|| {
        let batches = Batch::by_topic([draft(topic, event(number))]);
        let appended = block_on(log.0.append_batches(&batches));
        appended.into_iter().next().unwrap().unwrap()[0]
    })
}

/// Appends to a topic until the log commits here and now; gives how many records it has then.
fn warm_up(log: &Driver<AnyEventLog>, topic: &Topic) -> u64 {
    for number in 1..=TRIES {
        if let Some(id) = commit_here(log, topic, number) {
            assert_eq!(id, number);
            return number;
        }
        assert_eq!(log.append(topic, event(number)), number);
    }
    panic!("it never commits here");
}

/// Keeps the writer from changing the tables until it is dropped.
fn lock(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

/// How many records the tables have.
fn stored(path: &Path) -> u64 {
    let connection = Connection::open(path).unwrap();
    let count = connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0));
    count.map(i64::cast_unsigned).unwrap()
}

fn check_numbers(log: &Driver<impl EventLog + 'static>, topic: &Topic, count: u64) {
    let records = log.read_all(topic);
    assert!(records.iter().map(|(id, _)| *id).eq(1..=count));
    assert!(records.iter().map(|(_, event)| number(event)).eq(1..=count));
    assert_eq!(log.latest(topic), Some(count));
    assert!(log.verify(topic).verified);
}

#[test]
fn a_commit_does_not_wait_for_the_tables_and_is_seen_by_whoever_reads() {
    let (_folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    check_numbers(&log, &t, first);
    block_on(log.0.flush()).unwrap();
    let locked = lock(&path);
    for number in first + 1..=first + 20 {
        assert_eq!(commit_here(&log, &t, number), Some(number));
    }
    assert_eq!(stored(&path), first, "the tables cannot be changed");
    check_numbers(&log, &t, first + 20);
    assert_eq!(
        log.ids(&t, Some(first - 1), 3),
        [first, first + 1, first + 2]
    );
    drop(locked);
    block_on(log.0.flush()).unwrap();
    check_numbers(&log, &t, first + 20);
    assert_eq!(stored(&path), first + 20);
    assert_eq!(log.append(&t, event(first + 21)), first + 21);
    check_numbers(&log, &t, first + 21);
}

#[test]
fn several_topics_are_committed_together() {
    let (_folder, path) = place();
    let log = open(&path);
    warm_up(&log, &topic("first"));
    let drafts = ["a", "b"].map(|name| [1, 2].map(|n| draft(&topic(name), event(n))));
    let batches = Batch::by_topic(drafts.into_iter().flatten());
    let committed = log.0.append_batches_here(&batches).unwrap();
    assert!(
        committed
            .iter()
            .all(|ids| ids.as_deref().is_ok_and(|ids| ids == [1, 2]))
    );
    assert_eq!(log.topics(), ["a", "b", "first"]);
    for name in ["a", "b"] {
        check_numbers(&log, &topic(name), 2);
    }
}

#[test]
fn what_is_committed_is_in_the_tables_when_the_log_is_closed_or_flushed() {
    let (_folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    block_on(log.0.flush()).unwrap();
    assert_eq!(stored(&path), first);
    assert_eq!(commit_here(&log, &t, first + 1), Some(first + 1));
    drop(log);
    assert_eq!(stored(&path), first + 1);
}

#[test]
fn other_processes_see_it_by_themselves() {
    let (_folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    let reader = Driver(SqliteEventLog::open_read_only(&path, 16).unwrap());
    let mut stream = reader.subscribe(&t, Some(first));
    assert_eq!(commit_here(&log, &t, first + 1), Some(first + 1));
    assert_eq!(next(&mut stream).0, first + 1);
}

#[test]
fn who_begins_to_follow_a_topic_sees_what_the_tables_do_not_have() {
    let (_folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    let locked = lock(&path);
    assert_eq!(commit_here(&log, &t, first + 1), Some(first + 1));
    let mut stream = log.subscribe(&t, Some(first - 1));
    assert_eq!(next(&mut stream).0, first);
    assert_eq!(next(&mut stream).0, first + 1);
    drop(locked);
    log.append(&t, event(first + 2));
    assert_eq!(next(&mut stream).0, first + 2);
}

#[test]
fn who_follows_a_topic_is_served_by_the_writer() {
    let (_folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    let mut stream = log.subscribe(&t, Some(first));
    assert_eq!(commit_here(&log, &t, first + 1), None);
    assert_eq!(commit(&log, &t, first + 1), first + 1);
    assert_eq!(next(&mut stream).0, first + 1);
    drop(stream);
    assert_eq!(commit_here(&log, &t, first + 2), Some(first + 2));
}

#[test]
fn two_logs_of_one_file_give_out_no_id_twice() {
    let (_folder, path) = place();
    let (left, right, t) = (open(&path), open(&path), topic("t"));
    let first = warm_up(&left, &t);
    for number in first + 1..first + 60 {
        // What one has committed is in no table yet when the other wants to write.
        let log = if number % 4 < 3 { &left } else { &right };
        assert_eq!(commit(log, &t, number), number);
    }
    for log in [&left, &right] {
        block_on(log.0.flush()).unwrap();
    }
    check_numbers(&right, &t, first + 59);
    check_numbers(&left, &t, first + 59);
}

#[test]
fn who_never_stops_committing_lets_others_in() {
    let (_folder, path) = place();
    let (left, right, t) = (open(&path), open(&path), topic("t"));
    let mut count = warm_up(&left, &t);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            let mut committed = 0;
            while !is_done.load(Ordering::Relaxed) {
                commit(&left, &t, 0);
                committed += 1;
            }
            committed
        });
        for number in 1..=5 {
            right.append(&topic("other"), event(number));
        }
        is_done.store(true, Ordering::Relaxed);
        count += busy.join().unwrap();
    });
    block_on(left.0.flush()).unwrap();
    check_numbers(&left, &topic("other"), 5);
    assert_eq!(right.latest(&t), Some(count));
    assert!(right.verify(&t).verified);
}

#[test]
fn who_waits_to_write_is_heard_by_who_commits() {
    let (_folder, path) = place();
    let (left, right, t) = (open(&path), open(&path), topic("t"));
    let first = warm_up(&left, &t);
    let locked = lock(&path);
    std::thread::scope(|scope| {
        assert_eq!(commit_here(&left, &t, first + 1), Some(first + 1));
        let bell = path.with_extension("sqlite-bell");
        let knocks = || std::fs::read(&bell).unwrap().get(8..).map(<[u8]>::to_vec);
        let before = knocks();
        let waiting = scope.spawn(|| right.append(&topic("other"), event(1)));
        while knocks() == before {
            std::thread::yield_now();
        }
        assert_eq!(commit_here(&left, &t, 0), None, "nobody was heard");
        drop(locked);
        assert_eq!(waiting.join().unwrap(), 1);
    });
    assert!(left.verify(&t).verified);
}

#[test]
fn nobody_else_may_write_until_the_tables_have_everything() {
    let (folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    let bell = std::fs::File::open(folder.path().join("events.sqlite-bell")).unwrap();
    let locked = lock(&path);
    let mut count = first;
    // Until the intake is full.
    loop {
        let mut large = event(count + 1);
        large.payload["text"] = "x".repeat(200_000).into();
        match log
            .0
            .append_batches_here(&Batch::by_topic([draft(&t, large)]))
        {
            Some(ids) => assert_eq!(ids[0].as_deref().unwrap(), [count + 1]),
            None => break,
        }
        count += 1;
    }
    assert!(count > first + 4, "there is room for more");
    assert!(bell.try_lock().is_err(), "somebody else could write");
    drop(locked);
    block_on(log.0.flush()).unwrap();
    check_numbers(&log, &t, count);
    assert!(bell.try_lock().is_ok(), "nobody needs it any more");
}

#[test]
fn large_records_and_many_of_them_find_their_way() {
    let (_folder, path) = place();
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    let mut is_here = 0;
    for number in first + 1..=first + 60 {
        let mut large = event(number);
        large.payload["text"] = "x"
            .repeat(if number % 10 == 0 { 3_000_000 } else { 90_000 })
            .into();
        let batches = Batch::by_topic([draft(&t, large)]);
        let ids = match log.0.append_batches_here(&batches) {
            Some(ids) => {
                is_here += 1;
                ids
            }
            None => block_on(log.0.append_batches(&batches)),
        };
        assert_eq!(ids[0].as_deref().unwrap(), [number]);
    }
    // They are several times as large as the intake, and six do not fit at all.
    assert!((10..=54).contains(&is_here), "{is_here}");
    check_numbers(&log, &t, first + 60);
}

#[test]
fn without_a_place_for_an_intake_the_log_works_as_before() {
    let (folder, path) = place();
    let nowhere = folder.path().join("missing/file");
    std::os::unix::fs::symlink(nowhere, folder.path().join("events.sqlite-intake")).unwrap();
    let (log, t) = (open(&path), topic("t"));
    for number in 1..=30 {
        assert_eq!(commit_here(&log, &t, number), None);
        assert_eq!(log.append(&t, event(number)), number);
    }
    check_numbers(&log, &t, 30);
    assert!(log.0.health().failures > 0);
}

#[test]
fn an_intake_that_does_not_belong_to_the_tables_is_refused_and_named() {
    let (folder, path) = place();
    let t = topic("t");
    let log = open(&path);
    let first = warm_up(&log, &t);
    block_on(log.0.flush()).unwrap();
    let copy = folder.path().join("copy");
    std::fs::copy(&path, &copy).unwrap();
    // The writer appends in between, which only the tables know.
    log.append(&t, event(first + 1));
    assert_eq!(commit_here(&log, &t, first + 2), Some(first + 2));
    drop(log);
    std::fs::rename(&copy, &path).unwrap();
    let Err(error) = SqliteEventLog::open(&path, 16) else {
        panic!("it was opened");
    };
    let error = error.to_string();
    assert!(error.contains("events.sqlite-intake is damaged"), "{error}");
    assert!(
        error.contains(&format!("record {} of topic 't'", first + 2)),
        "{error}"
    );
    std::fs::remove_file(folder.path().join("events.sqlite-intake")).unwrap();
    check_numbers(&open(&path), &t, first);
}

/// What a child does: commits, and is gone before the tables have any of it. As a test of its
/// own it only commits.
#[test]
fn a_process_commits_and_is_gone() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how a test tells its own program what to do"
    )]
    let task = std::env::var(TASK).ok();
    let (_folder, own) = place();
    let path = task.as_ref().map_or(own, PathBuf::from);
    let (log, t) = (open(&path), topic("t"));
    let first = warm_up(&log, &t);
    let locked = lock(&path);
    let last = first + 30;
    for number in first + 1..=last {
        assert_eq!(commit_here(&log, &t, number), Some(number));
    }
    if task.is_some() {
        println!("\ncommitted {last} stored {first}");
        std::process::abort();
    }
    drop(locked);
    check_numbers(&log, &t, last);
}

/// Has a child commit and be gone; gives how many records it has committed.
fn leave_behind(path: &Path) -> u64 {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args([
            "--exact",
            "sqlite_ahead::a_process_commits_and_is_gone",
            "--nocapture",
        ])
        .env(TASK, path)
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|line| line.starts_with("committed "));
    let words: Vec<&str> = line
        .unwrap_or_else(|| panic!("{said}"))
        .split(' ')
        .collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    assert!(stored(path) < number(1), "something is left behind");
    number(1)
}

#[test]
fn what_a_process_has_left_behind_is_found_by_the_next_writer() {
    let (_folder, path) = place();
    let t = topic("t");
    let count = leave_behind(&path);
    let log = open(&path);
    check_numbers(&log, &t, count);
    assert_eq!(stored(&path), count);
    assert_eq!(commit(&log, &t, count + 1), count + 1);
    check_numbers(&log, &t, count + 1);
}

#[test]
fn what_a_process_has_left_behind_is_found_by_a_writer_that_was_there_all_along() {
    let (_folder, path) = place();
    let t = topic("t");
    let log = open(&path);
    let count = leave_behind(&path);
    assert_eq!(log.append(&t, event(count + 1)), count + 1);
    check_numbers(&log, &t, count + 1);
}

#[test]
fn what_a_process_has_left_behind_is_told_to_those_who_follow_it() {
    let (_folder, path) = place();
    let t = topic("t");
    let log = open(&path);
    let count = leave_behind(&path);
    let before = stored(&path);
    let mut stream = log.subscribe(&t, Some(before));
    let mut finds_nothing = |waker: &Waker| {
        assert!(poll_with(&mut stream, waker).is_none());
        log.latest(&t); // Asked after the stream has, so that one has its answer too.
        assert!(poll_with(&mut stream, waker).is_none());
    };
    finds_nothing(Waker::noop());
    // The log hears that the other one was there, and sees what is in the tables.
    let bell = Bell::new();
    finds_nothing(&bell.waker);
    std::fs::write(path.with_extension("sqlite-bell"), "!").unwrap();
    bell.wait();
    finds_nothing(Waker::noop());
    // What is not there is found by whoever writes next, to whichever topic.
    log.append(&topic("other"), event(1));
    for id in before + 1..=count {
        assert_eq!(next(&mut stream).0, id);
    }
}

#[test]
fn what_a_process_has_left_behind_is_seen_by_readers_who_may_change_nothing() {
    let (_folder, path) = place();
    let t = topic("t");
    let count = leave_behind(&path);
    let before = stored(&path);
    let reader = Driver(SqliteEventLog::open_read_only(&path, 16).unwrap());
    check_numbers(&reader, &t, count);
    assert_eq!(reader.ids(&t, Some(count - 2), 9), [count - 1, count]);
    assert_eq!(reader.ids(&t, Some(before - 1), 2), [before, before + 1]);
    assert_eq!(reader.topics(), ["t"]);
    assert_eq!(stored(&path), before, "it is still not in the tables");
    // When somebody moves it there, nothing is seen twice, and what is removed is seen no more.
    let log = open(&path);
    check_numbers(&log, &t, count);
    check_numbers(&reader, &t, count);
    log.compact_read(&t, count);
    assert!(reader.read_all(&t).is_empty());
    assert_eq!(reader.latest(&t), Some(count));
}
