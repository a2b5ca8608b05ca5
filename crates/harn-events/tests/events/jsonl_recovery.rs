//! What is left of a JSONL log after a crash, a full disk or a cut file.
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use harn_events::{
    AgentEvent, AgentEventSink, FileSystem, JsonlEventSink, JsonlOptions, ReadSeek, SegmentFile,
    Storage, load_file,
};

fn chunk(content: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: "s".into(),
        content: content.into(),
    }
}

fn indexes(base: &Path) -> Vec<u64> {
    let log = load_file(base).unwrap();
    let records = log.sessions.get("s").map(|session| &session.records);
    records
        .into_iter()
        .flatten()
        .map(|record| record.index)
        .collect()
}

/// Runs one test of this file again in a process of its own.
fn child(test: &str, folder: &Path, rounds: u32) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let test = format!("jsonl_recovery::{test}");
    command.args(["--exact", &test, "--nocapture"]);
    command
        .env("HARN_TEST_FOLDER", folder)
        .env("HARN_TEST_ROUNDS", rounds.to_string());
    command
}

/// What a child process was asked to do; `None` in the process that runs the tests.
fn task() -> Option<(std::path::PathBuf, u32)> {
    let mut asked = std::env::vars_os().filter(|(key, _)| key == "HARN_TEST_FOLDER");
    let folder = asked.next()?.1.into();
    let rounds = std::env::vars()
        .find(|(key, _)| key == "HARN_TEST_ROUNDS")?
        .1;
    Some((folder, rounds.parse().unwrap()))
}

#[test]
fn every_event_before_an_abort_is_on_disk() {
    if let Some((folder, events)) = task() {
        let sink = JsonlEventSink::open(folder.join("event_log-s.jsonl")).unwrap();
        for number in 0..events {
            sink.handle_event(&chunk(&number.to_string()));
        }
        std::process::abort();
    }
    let folder = tempfile::tempdir().unwrap();
    for (round, events) in [0, 1, 7, 500].into_iter().enumerate() {
        let folder = folder.path().join(round.to_string());
        let ended = child("every_event_before_an_abort_is_on_disk", &folder, events)
            .output()
            .unwrap();
        assert!(!ended.status.success(), "the child aborts");
        let expected: Vec<u64> = (0..u64::from(events)).collect();
        assert_eq!(indexes(&folder.join("event_log-s.jsonl")), expected);
    }
}

#[test]
fn processes_that_rotate_in_turn_leave_older_segments_alone() {
    if let Some((folder, rounds)) = task() {
        let options = JsonlOptions {
            rotate_bytes: 256,
            ..JsonlOptions::default()
        };
        let sink = JsonlEventSink::open_with(folder.join("event_log-s.jsonl"), options).unwrap();
        for number in 0..rounds {
            sink.handle_event(&chunk(&number.to_string()));
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let mut before: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for round in 1..=6 {
        let test = "processes_that_rotate_in_turn_leave_older_segments_alone";
        let ended = child(test, folder.path(), 7).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let now: BTreeMap<String, Vec<u8>> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (
                    entry.file_name().into_string().unwrap(),
                    fs::read(entry.path()).unwrap(),
                )
            })
            .collect();
        for (name, bytes) in &before {
            assert!(
                now[name].starts_with(bytes),
                "{name} was changed in round {round}"
            );
        }
        let expected: Vec<u64> = (0..round * 7).collect();
        assert_eq!(indexes(&base), expected);
        before = now;
    }
    assert!(before.len() > 6, "every process rotated");
}

#[test]
fn a_file_cut_at_any_byte_loses_one_record_and_corrupts_none() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open(&base).unwrap();
    for number in 0..60 {
        sink.handle_event(&chunk(&format!(
            "{number}: {}",
            "ä\"\\\n".repeat(number % 7)
        )));
    }
    drop(sink);
    let whole = fs::read(&base).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
    assert!(whole.len() > 5 * 1024);
    let options = FaultyDisk::new([]).options();
    for cut in whole.len() - 4096..=whole.len() {
        fs::write(&base, &whole[..cut]).unwrap();
        let complete = ends.iter().filter(|&&end| end < cut).count();
        let torn = cut - complete.checked_sub(1).map_or(0, |last| ends[last] + 1);

        let sink = JsonlEventSink::open_with(&base, options.clone()).unwrap();
        assert_eq!(sink.torn_bytes(), torn as u64, "cut at {cut}");
        assert_eq!(sink.event_count(), complete as u64, "cut at {cut}");
        sink.handle_event(&chunk("after"));
        drop(sink);

        let now = fs::read(&base).unwrap();
        let kept = cut - torn;
        assert_eq!(
            now[..kept],
            whole[..kept],
            "complete records are untouched, cut at {cut}"
        );
        let log = load_file(&base).unwrap();
        assert_eq!(log.damage, [], "cut at {cut}");
        let session = &log.sessions["s"];
        assert!(session.report.is_dense(), "cut at {cut}");
        assert_eq!(session.records.len(), complete + 1, "cut at {cut}");
    }
}

#[test]
fn a_reader_drops_a_torn_line_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open(&base).unwrap();
    sink.handle_event(&chunk("whole"));
    drop(sink);
    let offset = fs::metadata(&base).unwrap().len();
    let mut bytes = fs::read(&base).unwrap();
    bytes.extend_from_slice(b"{\"index\":1,\"emitt");
    fs::write(&base, bytes).unwrap();
    let log = load_file(&base).unwrap();
    assert_eq!(log.sessions["s"].records.len(), 1);
    let [damage] = &log.damage[..] else {
        panic!("{:?}", log.damage)
    };
    assert!(damage.is_torn_tail);
    assert_eq!((damage.line, damage.offset), (2, offset));
}

#[test]
fn damage_in_the_middle_is_reported_and_does_not_stop_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open(&base).unwrap();
    (0..3).for_each(|number| sink.handle_event(&chunk(&number.to_string())));
    drop(sink);
    let text = fs::read_to_string(&base).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1] = "\0\0\0\0";
    fs::write(&base, lines.join("\n") + "\n\n").unwrap();
    let sink = JsonlEventSink::open(&base).unwrap();
    assert_eq!(sink.event_count(), 3);
    sink.handle_event(&chunk("3"));
    drop(sink);
    let log = load_file(&base).unwrap();
    assert_eq!(indexes(&base), [0, 2, 3]);
    assert_eq!(log.sessions["s"].report.missing, [(1, 1)]);
    assert_eq!(log.damage.len(), 1);
    assert_eq!((log.damage[0].line, log.damage[0].is_torn_tail), (2, false));
}

/// A disk on which writes fail as a script says: one word per write.
#[derive(Clone)]
struct FaultyDisk {
    plan: Arc<Mutex<std::collections::VecDeque<Fault>>>,
    may_create: Arc<Mutex<bool>>,
    syncs: Arc<Mutex<usize>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// The write succeeds.
    None,
    /// Nothing is written.
    Full,
    /// This many bytes are written before the disk is full.
    Torn(usize),
}

impl FaultyDisk {
    fn new(plan: impl IntoIterator<Item = Fault>) -> Self {
        Self {
            plan: Arc::new(Mutex::new(plan.into_iter().collect())),
            may_create: Arc::new(Mutex::new(true)),
            syncs: Arc::default(),
        }
    }

    fn options(&self) -> JsonlOptions {
        JsonlOptions {
            storage: Arc::new(self.clone()),
            ..JsonlOptions::default()
        }
    }
}

struct FaultyFile {
    file: Box<dyn SegmentFile>,
    disk: FaultyDisk,
}

impl Storage for FaultyDisk {
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        let file = FileSystem.open_append(path)?;
        Ok(Box::new(FaultyFile {
            file,
            disk: self.clone(),
        }))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        if !*self.may_create.lock().unwrap() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = FileSystem.create_new(path)?;
        Ok(Box::new(FaultyFile {
            file,
            disk: self.clone(),
        }))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        FileSystem.open_read(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        FileSystem.remove(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        FileSystem.list(directory)
    }
}

impl SegmentFile for FaultyFile {
    fn size_bytes(&mut self) -> io::Result<u64> {
        self.file.size_bytes()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        match self
            .disk
            .plan
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Fault::None)
        {
            Fault::None => self.file.append(bytes),
            Fault::Full => Err(full()),
            Fault::Torn(written) => {
                self.file.append(&bytes[..written])?;
                Err(full())
            }
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }

    /// A disk whose faults are planned has no power to lose, so this only counts.
    fn sync(&mut self) -> io::Result<()> {
        *self.disk.syncs.lock().unwrap() += 1;
        Ok(())
    }
}

#[test]
fn a_full_disk_is_counted_reported_and_leaves_no_gap() {
    use Fault::{Full, None, Torn};
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let disk = FaultyDisk::new([None, Full, Torn(10), None, Torn(1), None]);
    let sink = JsonlEventSink::open_with(&base, disk.options()).unwrap();
    (0..6).for_each(|number| sink.handle_event(&chunk(&number.to_string())));

    let health = sink.health();
    assert_eq!((health.accepted, health.stored, health.dropped), (6, 3, 3));
    let first = health.first_error.expect("the first error is kept");
    assert_eq!(sink.flush().unwrap_err().to_string(), first);
    let error = futures_now(AgentEventSink::flush(&*sink)).unwrap_err();
    assert_eq!((error.sink(), error.dropped_events()), ("jsonl", 3));
    assert_eq!(
        error.to_string(),
        format!("jsonl sink flush failed: {first} (3 dropped events)")
    );
    drop(sink);

    let log = load_file(&base).unwrap();
    assert_eq!(log.damage, []);
    assert_eq!(indexes(&base), [0, 1, 2], "indexes are consecutive");
}

/// The output of a future that does not have to wait.
fn futures_now<T>(mut future: std::pin::Pin<Box<dyn Future<Output = T> + Send + '_>>) -> T {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("the future waits"),
    }
}

#[test]
fn a_torn_write_before_a_crash_is_repaired_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let disk = FaultyDisk::new([Fault::None, Fault::Torn(25)]);
    let sink = JsonlEventSink::open_with(&base, disk.options()).unwrap();
    (0..2).for_each(|number| sink.handle_event(&chunk(&number.to_string())));
    drop(sink);
    let sink = JsonlEventSink::open(&base).unwrap();
    assert_eq!(sink.torn_bytes(), 25);
    sink.handle_event(&chunk("2"));
    drop(sink);
    assert_eq!(indexes(&base), [0, 1]);
}

#[test]
fn a_rotation_that_fails_keeps_writing_to_the_old_segment() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let disk = FaultyDisk::new([]);
    *disk.may_create.lock().unwrap() = false;
    let options = JsonlOptions {
        rotate_bytes: 200,
        ..disk.options()
    };
    let sink = JsonlEventSink::open_with(&base, options).unwrap();
    (0..10).for_each(|number| sink.handle_event(&chunk(&number.to_string())));
    assert_eq!(sink.health().dropped, 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    *disk.may_create.lock().unwrap() = true;
    (0..10).for_each(|_| sink.handle_event(&chunk(&"x".repeat(16 * 1024))));
    drop(sink);
    let names: Vec<String> = FileSystem.list(folder.path()).unwrap();
    assert!(
        names.contains(&"event_log-s-000001.jsonl".to_owned()),
        "no number was skipped: {names:?}"
    );
    assert_eq!(indexes(&base), (0..20).collect::<Vec<u64>>());
}

#[test]
fn the_end_of_a_run_a_flush_and_the_end_of_the_sink_are_synced() {
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::new([]);
    let syncs = || *disk.syncs.lock().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open_with(base, disk.options()).unwrap();
    let session_id = || "s".to_owned();

    sink.handle_event(&chunk("ordinary"));
    assert_eq!(syncs(), 0);
    for (number, last) in [
        AgentEvent::BudgetExhausted {
            session_id: session_id(),
            max_iterations: 1,
            kind: None,
            cost_usd: None,
            wall_clock_ms: None,
        },
        AgentEvent::LoopStuck {
            session_id: session_id(),
            max_nudges: 1,
            last_iteration: 1,
            tail_excerpt: String::new(),
        },
        AgentEvent::DaemonWatchdogTripped {
            session_id: session_id(),
            attempts: 1,
            elapsed_ms: 1,
        },
        AgentEvent::SessionClosed {
            session_id: session_id(),
            reason: "closed".into(),
            status: "closed".into(),
            metadata: serde_json::Value::Null,
        },
    ]
    .iter()
    .enumerate()
    {
        sink.handle_event(&chunk("before"));
        sink.handle_event(last);
        assert_eq!(syncs(), number + 1, "{}", last.tag());
    }
    sink.handle_event(&chunk("before a flush"));
    sink.flush().unwrap();
    assert_eq!(syncs(), 5);
    sink.flush().unwrap();
    assert_eq!(syncs(), 5, "there was nothing new to sync");
    sink.handle_event(&chunk("before the end"));
    drop(sink);
    assert_eq!(syncs(), 6);
}
