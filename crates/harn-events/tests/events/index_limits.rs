//! The end of the numbers. No honest log gets there, but a damaged one may say so.

use harn_events::{AgentEvent, AgentEventSink, JsonlEventSink, load_file};

fn line(session_id: &str, index: u64) -> String {
    format!(
        r#"{{"index":{index},"emitted_at_ms":1,"frame_depth":null,"execution_id":null,"type":"agent_message_chunk","session_id":"{session_id}","content":"old"}}"#
    ) + "\n"
}

fn news(session_id: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: session_id.to_owned(),
        content: "new".to_owned(),
    }
}

/// Appends two events to a log and compares which indexes the session has then.
/// What cannot be numbered is dropped and counted; it never wraps to 0.
#[track_caller]
fn check(old: &str, session_id: &str, expected: &[u64], dropped: u64) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("event_log.jsonl");
    std::fs::write(&path, old).expect("the scratch folder is writable");
    let sink = JsonlEventSink::open(&path).expect("the log can be opened");
    sink.handle_event(&news(session_id));
    sink.handle_event(&news(session_id));
    assert_eq!(sink.health().dropped, dropped);
    assert_eq!(sink.flush().is_err(), dropped > 0);
    drop(sink);
    let written = std::fs::read_to_string(&path).expect("the log is there");
    assert!(written.starts_with(old), "old records have changed");
    let log = load_file(&path).expect("the log can be loaded");
    let records = log.sessions[session_id].records.iter();
    let indexes: Vec<u64> = records.map(|record| record.index).collect();
    assert_eq!(indexes, expected);
}

#[test]
fn a_log_goes_on_up_to_the_last_number() {
    let last = u64::MAX - 3;
    check(&line("s", last), "s", &[last, last + 1, last + 2], 0);
}

#[test]
fn behind_the_last_number_events_are_dropped_and_counted() {
    check(&line("s", u64::MAX), "s", &[u64::MAX], 2);
}

#[test]
fn other_sessions_of_the_log_are_not_affected() {
    check(&line("t", u64::MAX), "s", &[0, 1], 0);
    let two = line("s", 4) + &line("t", u64::MAX);
    check(&two, "s", &[4, 5, 6], 0);
}

#[test]
fn the_count_of_a_log_does_not_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("event_log.jsonl");
    std::fs::write(&path, line("s", u64::MAX - 9) + &line("t", u64::MAX - 9)).unwrap();
    let sink = JsonlEventSink::open(&path).unwrap();
    sink.handle_event(&news("s"));
    sink.handle_event(&news("t"));
    assert!(sink.event_count() >= u64::MAX - 8);
}

#[test]
fn a_gap_up_to_the_last_number_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("event_log.jsonl");
    std::fs::write(&path, line("s", u64::MAX) + &line("s", u64::MAX)).unwrap();
    let log = load_file(&path).unwrap();
    let report = &log.sessions["s"].report;
    assert_eq!(report.missing, [(0, u64::MAX - 1)]);
    assert_eq!(report.duplicates, [u64::MAX]);
}
