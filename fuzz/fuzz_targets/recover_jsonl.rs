//! A log may end in any way a crash can leave it. Opening it loses nothing that
//! was complete, and what is written afterwards can be read.

#![no_main]

use std::fs;
use std::path::PathBuf;

use harn_events::{
    AgentEvent, AgentEventSink, JsonlEventSink, RecordedEvent, StoredRecord, load_file,
};

const SESSION: &str = "s";

/// One file per process, so that several fuzzers can run side by side.
fn log_path() -> PathBuf {
    let name = format!("harn-recover-jsonl-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    folder.join("event_log.jsonl")
}

fn news(content: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: SESSION.to_owned(),
        content: content.to_owned(),
    }
}

/// The records of the session in the order of the file.
fn records(lines: &[u8]) -> Vec<StoredRecord> {
    lines
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
        .filter_map(|line| StoredRecord::decode(std::str::from_utf8(line).ok()?).ok())
        .filter(|record| record.session_id() == Some(SESSION))
        .collect()
}

harn_fuzz::target!(|bytes| {
    let path = log_path();
    fs::write(&path, bytes).expect("the log is writable");
    let complete = bytes.iter().rposition(|byte| *byte == b'\n');
    let (complete, torn) = bytes.split_at(complete.map_or(0, |at| at + 1));
    let before = records(complete);

    let sink = JsonlEventSink::open(&path).expect("a damaged log can be opened");
    assert_eq!(sink.torn_bytes(), torn.len() as u64);
    let events = [news("one"), news("two")];
    events.iter().for_each(|event| sink.handle_event(event));
    let health = sink.health();
    drop(sink);

    let after = fs::read(&path).expect("the log is readable");
    assert!(after.starts_with(complete), "complete lines have changed");
    let log = load_file(&path).expect("the log can be loaded");
    assert!(log.damage.iter().all(|damage| !damage.is_torn_tail));

    let last = before.last().map(|record| record.index);
    let highest = before.iter().map(|record| record.index).max();
    if highest.is_some_and(|index| index >= u64::MAX - 2) {
        // No room for two more; whatever was not stored must have been counted.
        assert_eq!(health.stored + health.dropped, 2);
        return;
    }
    assert_eq!(health.stored, 2, "{health:?}");
    let added = records(&after[complete.len()..]);
    assert_eq!(added.len(), 2, "exactly the two new records were added");
    for (record, event) in added.iter().zip(events) {
        assert_eq!(record.event, RecordedEvent::Known(event));
    }
    let next = |index: Option<u64>| index.map_or(0, |index| index + 1);
    let first = added[0].index;
    assert!(
        first == next(last) || first == next(highest),
        "{first} does not go on from {last:?} or {highest:?}"
    );
    assert_eq!(added[1].index, first + 1);
    let found = log.sessions[SESSION].records.iter();
    assert_eq!(found.filter(|record| added.contains(record)).count(), 2);
});
