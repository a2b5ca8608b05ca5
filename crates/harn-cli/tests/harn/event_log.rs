//! The commands over the event log, on real logs of both backends.
//!
//! The clock of the program is stopped at noon, so that "3s ago" stays true.

mod choice;
mod damage;
mod export;
mod nats;
mod repair;
mod show;
mod stats;
mod tail;
mod topics;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harn_log::{
    AnyEventLog, CompactForce, EventLog, FileEventLog, LogEvent, SqliteEventLog, Topic, block_on,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Call, finished, program};

/// What the program takes for now.
const NOW: &str = "2026-01-31T12:00:00Z";
const NOW_MS: i64 = 1_769_860_800_000;
const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

const ORDERS: &str = "orders";
/// Of session `s/1`, and of session `s_1` as well.
const SESSION: &str = "observability.agent_events.s_1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backend {
    Sqlite,
    File,
}

const BACKENDS: [Backend; 2] = [Backend::Sqlite, Backend::File];

/// A project with an event log, gone after the test.
struct Project {
    backend: Backend,
    folder: TempDir,
}

impl Project {
    /// A project that has no log yet.
    fn new(backend: Backend) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        if backend == Backend::File {
            let manifest = "[event_log]\nbackend = \"file\"\n";
            fs::write(folder.path().join("harn.toml"), manifest).expect("the folder is ours");
        }
        Self { backend, folder }
    }

    /// Two orders, and a session of which one record is another session's.
    fn with_records(backend: Backend) -> Self {
        let project = Self::new(backend);
        let at = |age| NOW_MS - age;
        project.append(
            ORDERS,
            vec![
                LogEvent::at("placed", json!({"id": 7}), at(2 * HOUR)),
                LogEvent::at("shipped", json!({"by": "Post", "id": 7}), at(3 * SECOND)),
            ],
        );
        project.append(
            SESSION,
            vec![
                agent_event(
                    "s/1",
                    at(10 * MINUTE),
                    json!({"type": "user_message", "message_id": "m1", "content": "Fix the Bug"}),
                ),
                agent_event(
                    "s/1",
                    at(9 * MINUTE),
                    json!({"type": "tool_call", "tool_call_id": "t1", "tool_name": "read",
                           "raw_input": {"path": "a.rs"}}),
                ),
                agent_event(
                    "s_1",
                    at(8 * MINUTE),
                    json!({"type": "agent_message_chunk", "content": "Somebody else."}),
                ),
                agent_event(
                    "s/1",
                    at(7 * MINUTE),
                    json!({"type": "agent_message_chunk", "content": "Done.\n\u{1b}[31m"}),
                ),
            ],
        );
        project
    }

    /// Appends one after the other, as any program would, and closes the log.
    fn append(&self, topic: &str, events: Vec<LogEvent>) {
        self.in_groups(topic, events.into_iter().map(|event| vec![event]));
    }

    /// Appends many at once.
    fn append_batch(&self, topic: &str, events: Vec<LogEvent>) {
        self.in_groups(topic, [events].into_iter());
    }

    /// Opens the log as a program that appends does.
    fn open(&self) -> AnyEventLog {
        let path = self.log_path();
        let log = match self.backend {
            Backend::Sqlite => SqliteEventLog::open(path, 8).map(AnyEventLog::Sqlite),
            Backend::File => FileEventLog::open(path, 8).map(AnyEventLog::File),
        };
        log.expect("it opens")
    }

    /// Takes away the records up to an id.
    fn compact(&self, topic: &str, before: u64) {
        let topic = Topic::new(topic).expect("a plain name");
        let log = self.open();
        let compacted = log.compact(&topic, before, CompactForce::Respect);
        block_on(compacted).expect("nobody else reads");
    }

    fn in_groups(&self, topic: &str, groups: impl Iterator<Item = Vec<LogEvent>>) {
        let topic = Topic::new(topic).expect("a plain name");
        let log = self.open();
        for events in groups {
            block_on(log.append_batch(&topic, events)).expect("it appends");
        }
        block_on(log.flush()).expect("it syncs");
    }

    fn append_one(&self, topic: &str, kind: &str, payload: Value) {
        self.append(topic, vec![LogEvent::at(kind, payload, NOW_MS)]);
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the log is by default.
    fn log_path(&self) -> PathBuf {
        self.folder().join(self.log_name())
    }

    /// The same, as seen from the project.
    fn log_name(&self) -> &'static str {
        match self.backend {
            Backend::Sqlite => ".harn/events.sqlite",
            Backend::File => ".harn/events",
        }
    }

    /// The program, in the folder of the project.
    fn program(&self) -> Command {
        let mut program = program();
        program.current_dir(self.folder()).env("HARN_NOW", NOW);
        program
    }

    fn harn(&self, arguments: &[&str]) -> Call {
        finished(self.program().arg("events").args(arguments))
    }

    /// The file of a topic that has only one.
    fn topic_file(&self, topic: &str) -> PathBuf {
        self.log_path().join(format!("topics/{topic}.jsonl"))
    }

    /// Changes the file of a topic behind the back of the log.
    fn tamper(&self, topic: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.topic_file(topic);
        let mut bytes = fs::read(&path).expect("the topic has a file");
        change(&mut bytes);
        fs::write(path, bytes).expect("the folder is ours");
    }

    /// All files below the project and what is in them.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the folder is ours") {
                let path = entry.expect("the folder is ours").path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push((path.clone(), fs::read(path).expect("ours"))),
                }
            }
        }
        files.sort();
        files
    }
}

/// A record as the event sink of a session appends it.
fn agent_event(session: &str, at_ms: i64, event: Value) -> LogEvent {
    let kind = event["type"]
        .as_str()
        .expect("events have a type")
        .to_owned();
    let mut event = event;
    event["session_id"] = session.into();
    let payload = json!({"index_hint": at_ms, "session_id": session, "event": event});
    LogEvent::at(kind, payload, at_ms).with_header("session_id", session)
}

/// The objects on standard output, one a line.
#[track_caller]
fn json_lines(call: &Call) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {call:?}"));
    call.stdout.lines().map(parse).collect()
}

/// The ids of records in JSON lines.
#[track_caller]
fn ids(call: &Call) -> Vec<u64> {
    let id = |line: &Value| line["id"].as_u64().expect("records have ids");
    json_lines(call).iter().map(id).collect()
}
