//! Several processes with one log.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use harn_log::{AnyEventLog, FileEventLog, SqliteEventLog, Topic};

use crate::support::{Driver, event, next, number, topic};

/// Tells a child which log to append to, and how: backend, folder, records.
const TASK: &str = "HARN_LOG_TEST_TASK";

fn open(backend: &str, folder: &Path) -> Arc<AnyEventLog> {
    let log = match backend {
        "file" => FileEventLog::open(folder.join("log"), 16).map(AnyEventLog::File),
        _ => SqliteEventLog::open(folder.join("log.sqlite"), 16).map(AnyEventLog::Sqlite),
    };
    Arc::new(log.expect("a log can be opened"))
}

/// What a child does; also a test of its own.
#[test]
fn a_process_appends() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how a test tells its own program what to do"
    )]
    let task = std::env::var(TASK);
    let own_folder = tempfile::tempdir().expect("a folder can be made");
    let task = task.unwrap_or_else(|_| format!("file|{}|10", own_folder.path().display()));
    let [backend, folder, count] = task.split('|').collect::<Vec<_>>()[..] else {
        panic!("a task has three parts");
    };
    let count = count.parse().expect("a number");
    let log = Driver(open(backend, Path::new(folder)));
    let mut last = 0;
    for number in 1..=count {
        let id = log.append(&topic("t"), event(number));
        assert!(id > last, "ids rise");
        last = id;
    }
    assert!(last >= count);
}

fn start_child(backend: &str, folder: &Path, count: u64) -> Child {
    let program = std::env::current_exe().expect("this program has a path");
    Command::new(program)
        .args(["--exact", "processes::a_process_appends"])
        .env(TASK, format!("{backend}|{}|{count}", folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child can be started")
}

fn finish(child: Child) {
    let output = child.wait_with_output().expect("a child ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}", output.status);
}

/// S35.8: ids stay unique and dense.
fn two_processes_append<const COUNT: u64>(backend: &str) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let children = [(); 2].map(|()| start_child(backend, folder.path(), COUNT));
    children.into_iter().for_each(finish);
    let log = Driver(open(backend, folder.path()));
    let records = log.read_all(&topic("t"));
    let ids = records.iter().map(|(id, _)| *id);
    assert!(ids.eq(1..=2 * COUNT));
    assert!(log.verify(&topic("t")).verified);
    let mut numbers: Vec<_> = records.iter().map(|(_, event)| number(event)).collect();
    numbers.sort_unstable();
    let twice = (1..=COUNT).flat_map(|number| [number, number]);
    assert!(numbers.into_iter().eq(twice));
}

#[test]
fn two_processes_append_to_files() {
    two_processes_append::<1_000>("file");
}

#[test]
fn two_processes_append_to_sqlite() {
    two_processes_append::<1_000>("sqlite");
}

/// A reader follows another process without asking again and again: it is polled
/// only when it was woken.
fn a_reader_follows_another_process(backend: &str) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let log = Driver(open(backend, folder.path()));
    let mut stream = log.subscribe(&topic("t"), None);
    let child = start_child(backend, folder.path(), 50);
    for expected in 1..=50 {
        let (id, event) = next(&mut stream);
        assert_eq!((id, number(&event)), (expected, expected));
    }
    finish(child);
    // Its own records come after those of the other process.
    log.append(&topic("t"), event(51));
    assert_eq!(next(&mut stream).0, 51);
}

#[test]
fn a_reader_follows_another_process_in_files() {
    a_reader_follows_another_process("file");
}

#[test]
fn a_reader_follows_another_process_in_sqlite() {
    a_reader_follows_another_process("sqlite");
}

/// Two logs in one process are to each other as two processes are.
fn two_logs_of_one_place(backend: &str) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (left, right) = (open(backend, folder.path()), open(backend, folder.path()));
    let (left, right) = (Driver(left), Driver(right));
    let topic: Topic = topic("t");
    let mut stream = right.subscribe(&topic, None);
    for id in 1..=20 {
        let writer = if id % 3 == 0 { &right } else { &left };
        assert_eq!(writer.append(&topic, event(id)), id);
        assert_eq!(next(&mut stream).0, id);
        assert_eq!(left.latest(&topic), Some(id));
        assert_eq!(right.latest(&topic), Some(id));
    }
    left.compact_read(&topic, 15);
    assert_eq!(right.ids(&topic, None, 100), [16, 17, 18, 19, 20]);
    assert_eq!(right.append(&topic, event(21)), 21);
    assert_eq!(left.append(&topic, event(22)), 22);
    assert!(left.verify(&topic).verified);
    assert!(right.verify(&topic).verified);
    let key = ("key", "v");
    assert!(left.append_once(&topic, key, event(23)).inserted);
    assert!(!right.append_once(&topic, key, event(23)).inserted);
}

#[test]
fn two_logs_of_one_folder() {
    two_logs_of_one_place("file");
}

#[test]
fn two_logs_of_one_sqlite_file() {
    two_logs_of_one_place("sqlite");
}
