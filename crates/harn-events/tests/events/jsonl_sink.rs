//! What the JSONL sink promises about its files.
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, CloseSession, DurableSinks, EventBus, JsonlDirectory,
    JsonlEventSink, JsonlOptions, ManualClock, RedactionPolicy, StoredRecord, load_directory,
    load_file,
};
use serde_json::Value;

fn chunk(session_id: &str, content: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: session_id.into(),
        content: content.into(),
    }
}

fn emit(sink: &JsonlEventSink, contents: impl IntoIterator<Item = usize>) {
    for content in contents {
        sink.handle_event(&chunk("s", &content.to_string()));
    }
}

/// Contents of the session's chunks in order of their index.
fn contents(base: &Path) -> Vec<String> {
    let log = load_file(base).expect("the log can be read");
    let session = &log.sessions["s"];
    assert!(session.report.is_dense(), "{:?}", session.report);
    let content = |record: &StoredRecord| match record.event.event() {
        Some(AgentEvent::AgentMessageChunk { content, .. }) => content.clone(),
        other => panic!("unexpected record {other:?}"),
    };
    session.records.iter().map(content).collect()
}

fn numbers(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

fn small_segments(rotate_bytes: u64) -> JsonlOptions {
    JsonlOptions {
        rotate_bytes,
        ..JsonlOptions::default()
    }
}

fn files_of(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn reopening_continues_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("deep/er/event_log-s.jsonl");
    let sink = JsonlEventSink::open(&base).unwrap();
    emit(&sink, 0..5);
    assert_eq!(sink.event_count(), 5);
    drop(sink);
    let sink = JsonlEventSink::open(&base).unwrap();
    assert_eq!(sink.event_count(), 5);
    emit(&sink, 5..10);
    drop(sink);
    assert_eq!(contents(&base), numbers(0..10));
}

#[test]
fn starting_over_is_a_call_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    emit(
        &JsonlEventSink::open_with(&base, small_segments(200)).unwrap(),
        0..20,
    );
    assert!(files_of(folder.path()).len() > 2, "the log has segments");
    let sink = JsonlEventSink::start_over(&base).unwrap();
    emit(&sink, 100..102);
    assert_eq!(contents(&base), numbers(100..102));
    assert_eq!(files_of(folder.path()).len(), 1);
}

#[test]
fn a_line_is_the_flat_record() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let options = JsonlOptions {
        clock: Arc::new(ManualClock::at(1_731_628_800_000)),
        ..JsonlOptions::default()
    };
    let sink = JsonlEventSink::open_with(&base, options).unwrap();
    sink.handle_event(&AgentEvent::IterationStart {
        session_id: "s".into(),
        iteration: 1,
        provider: String::new(),
        model: String::new(),
    });
    assert_eq!(
        fs::read_to_string(&base).unwrap(),
        "{\"index\":0,\"emitted_at_ms\":1731628800000,\"frame_depth\":null,\"execution_id\":null,\
         \"type\":\"iteration_start\",\"session_id\":\"s\",\"iteration\":1}\n"
    );
}

#[test]
fn a_full_file_is_left_for_a_new_segment_and_nothing_is_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open_with(&base, small_segments(300)).unwrap();
    emit(&sink, 0..12);
    drop(sink);
    let files = files_of(folder.path());
    let names: Vec<_> = files
        .iter()
        .map(|(path, _)| path.file_name().unwrap().to_str().unwrap())
        .collect();
    let segments = names.len() - 1;
    assert!(segments >= 3, "{names:?}");
    for number in 1..=segments {
        let name = format!("event_log-s-{number:06}.jsonl");
        assert!(names.contains(&name.as_str()), "{names:?}");
    }
    for (path, bytes) in &files {
        let is_newest = path.ends_with(format!("event_log-s-{segments:06}.jsonl"));
        assert!(
            bytes.len() >= 300 || is_newest,
            "only the newest is below the threshold"
        );
        assert!(
            bytes.len() < 300 + 200,
            "at most part of one record beyond the threshold"
        );
    }
    assert!(
        fs::read_to_string(&base)
            .unwrap()
            .starts_with("{\"index\":0,")
    );
    assert_eq!(contents(&base), numbers(0..12));
}

#[test]
fn the_published_threshold_is_100_mebibytes() {
    assert_eq!(JsonlEventSink::ROTATE_BYTES, 104_857_600);
}

#[test]
fn the_size_of_an_existing_file_counts_towards_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    emit(&JsonlEventSink::open(&base).unwrap(), 0..4);
    let size = fs::metadata(&base).unwrap().len();
    let sink = JsonlEventSink::open_with(&base, small_segments(size + 1)).unwrap();
    emit(&sink, 4..6);
    drop(sink);
    let first = fs::read_to_string(&base).unwrap();
    assert_eq!(first.lines().count(), 5, "the fifth record fills the file");
    assert_eq!(contents(&base), numbers(0..6));
}

#[test]
fn a_log_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open_with(&base, small_segments(100)).unwrap();
    let refused = JsonlEventSink::open(&base).map(|_| ()).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("is being written by somebody else"),
        "{refused}"
    );
    emit(&sink, 0..3);
    assert!(
        JsonlEventSink::open(&base).is_err(),
        "also when the writer has moved on"
    );
    drop(sink);
    assert!(JsonlEventSink::open(&base).is_ok());
}

#[test]
fn ids_that_look_like_paths_or_segments_have_logs_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("logs");
    let logs = JsonlDirectory::with_options(&directory, small_segments(150));
    for id in ["../x", "x", "x-000001"] {
        let sink = logs.open(id, &RedactionPolicy::new()).unwrap();
        for content in 0..4 {
            sink.handle_event(&chunk(id, &content.to_string()));
        }
    }
    let log = load_directory(&directory).unwrap();
    assert_eq!(
        log.sessions.keys().collect::<Vec<_>>(),
        ["../x", "x", "x-000001"]
    );
    for session in log.sessions.values() {
        assert!(session.report.is_dense());
        assert_eq!(session.records.len(), 4);
    }
    assert_eq!(log.damage, []);
    assert_eq!(
        files_of(folder.path().join("logs").as_path()).len(),
        log_files(&directory)
    );
}

fn log_files(directory: &Path) -> usize {
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("event_log") && name.ends_with(".jsonl")
    };
    files_of(directory)
        .iter()
        .filter(|(path, _)| is_log(path))
        .count()
}

#[test]
fn several_sessions_in_one_file_are_each_dense() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log.jsonl");
    for round in 0..3 {
        let sink = JsonlEventSink::open(&base).unwrap();
        for id in ["a", "b", "c"] {
            sink.handle_event(&chunk(id, &round.to_string()));
        }
    }
    let log = load_file(&base).unwrap();
    assert_eq!(log.sessions.len(), 3);
    for session in log.sessions.values() {
        assert!(session.report.is_dense(), "{:?}", session.report);
        assert_eq!(session.records.len(), 3);
    }
}

#[test]
fn stored_times_never_decrease_and_agree_between_sinks() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(1000));
    let bus = EventBus::new(BusConfig {
        clock: clock.clone(),
        ..BusConfig::default()
    });
    let paths = ["one.jsonl", "two.jsonl"].map(|name| folder.path().join(name));
    for path in &paths {
        bus.register_sink("s", JsonlEventSink::open(path).unwrap());
    }
    for now in [1000, 2000, 500, 700, 2001] {
        clock.set(now);
        bus.emit(&chunk("s", "x"));
    }
    for path in &paths {
        let log = load_file(path).unwrap();
        let times: Vec<i64> = log.sessions["s"]
            .records
            .iter()
            .map(|r| r.emitted_at_ms)
            .collect();
        assert_eq!(times, [1000, 2000, 2000, 2000, 2001]);
    }
}

#[test]
fn a_clock_that_was_set_back_between_two_processes_does_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    for now in [5000, 10] {
        let options = JsonlOptions {
            clock: Arc::new(ManualClock::at(now)),
            ..JsonlOptions::default()
        };
        emit(&JsonlEventSink::open_with(&base, options).unwrap(), 0..1);
    }
    let log = load_file(&base).unwrap();
    let times: Vec<i64> = log.sessions["s"]
        .records
        .iter()
        .map(|r| r.emitted_at_ms)
        .collect();
    assert_eq!(times, [5000, 5000]);
}

#[test]
fn the_call_depth_of_the_interpreter_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let bus = EventBus::default();
    bus.register_sink("s", JsonlEventSink::open(&base).unwrap());
    bus.emit(&chunk("s", "outside"));
    {
        let _outer = bus.enter_frame(1);
        let _inner = bus.enter_frame(2);
        bus.emit(&chunk("s", "nested"));
    }
    let log = load_file(&base).unwrap();
    let depths: Vec<_> = log.sessions["s"]
        .records
        .iter()
        .map(|r| r.frame_depth)
        .collect();
    assert_eq!(depths, [None, Some(2)]);
}

#[test]
fn two_runs_on_one_session_are_both_stored_and_closing_lets_go() {
    let folder = tempfile::tempdir().unwrap();
    let logs = JsonlDirectory::new(folder.path());
    let base = logs.path_of("s");
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(logs)),
        ..BusConfig::default()
    });
    bus.open_session("s").unwrap();
    for run in 0..2 {
        bus.open_session("s").unwrap();
        let guard = bus.begin_run("s");
        bus.emit(&chunk("s", &run.to_string()));
        bus.emit(&AgentEvent::LoopCheckpoint {
            session_id: "s".into(),
            iteration: 1,
            kind: "loop_exit".into(),
            delivered: 0,
            inbox_delivered: 0,
            dispatch_skipped: false,
        });
        guard.finish("done");
        bus.clear_session_sinks("s");
    }
    bus.close_session("s", CloseSession::default());
    let log = load_file(&base).unwrap();
    let tags: Vec<_> = log.sessions["s"]
        .records
        .iter()
        .map(|r| r.event.tag().to_owned())
        .collect();
    assert_eq!(
        tags,
        [
            "agent_message_chunk",
            "loop_checkpoint",
            "agent_message_chunk",
            "loop_checkpoint",
            "session_closed"
        ]
    );
    assert!(
        JsonlEventSink::open(&base).is_ok(),
        "the sink is gone with the session"
    );
}

#[test]
fn a_session_without_a_usable_log_goes_on_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("a-file");
    fs::write(&blocked, "in the way").unwrap();
    let bus = EventBus::new(BusConfig {
        durable: Some(Arc::new(JsonlDirectory::new(blocked.join("logs")))),
        ..BusConfig::default()
    });
    bus.open_session("s").unwrap();
    bus.emit(&chunk("s", "x"));
    assert_eq!(bus.health().attach_failures, 1);
    assert_eq!(bus.health().sinks, 0);
}

#[test]
fn a_secret_anywhere_in_a_record_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open(&base).unwrap();
    sink.handle_event(&chunk(
        "s",
        "the key is sk-abcdefghijklmnopqrstuvwxyz, keep it safe",
    ));
    sink.handle_event(&AgentEvent::TypedCheckpoint {
        session_id: "s".into(),
        checkpoint: serde_json::json!({"api_key": "hunter2", "note": "fine"}),
    });
    let text = fs::read_to_string(&base).unwrap();
    assert!(
        !text.contains("sk-abc") && !text.contains("hunter2"),
        "{text}"
    );
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["content"], "the key is [redacted], keep it safe");
    assert_eq!(
        lines[1]["checkpoint"],
        serde_json::json!({"api_key": "[redacted]", "note": "fine"})
    );
    assert_eq!(contents_len(&base), 2);
}

fn contents_len(base: &Path) -> usize {
    load_file(base).unwrap().sessions["s"].records.len()
}

#[test]
fn a_megabyte_of_streamed_arguments_is_stored_in_four() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open(&base).unwrap();
    let total = 1 << 20;
    let text = format!("{{\"content\":\"{}", "x".repeat(total - 12));
    let updates = (8192..=total).step_by(8192);
    let count = updates.clone().count() as u64;
    for len in updates {
        let update = serde_json::json!({"tool_call_id": "c", "tool_name": "write",
            "status": "pending", "raw_input_partial": &text[..len]});
        sink.handle_event(
            &AgentEvent::from_host_payload("s", "tool_call_update", &update).unwrap(),
        );
    }
    let health = sink.health();
    assert_eq!((health.accepted, health.dropped), (count, 0));
    assert_eq!(health.stored + health.skipped, count);
    let stored = fs::metadata(&base).unwrap().len();
    assert!(stored <= 4 << 20, "{stored} bytes stored for {total}");
    assert!(load_file(&base).unwrap().sessions["s"].report.is_dense());
}

#[test]
fn opaque_records_are_stored_in_their_place_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("event_log-s.jsonl");
    let bus = EventBus::default();
    let sink = JsonlEventSink::open(&base).unwrap();
    bus.register_sink("s", sink);
    let text =
        r#"{"type":"model_job","session_id":"s","cost":1.10,"n":123456789012345678901234567890}"#;
    let event = harn_events::RecordedEvent::decode(text).unwrap();
    let harn_events::RecordedEvent::Opaque(opaque) = &event else {
        panic!("{event:?}")
    };
    bus.emit(&chunk("s", "before"));
    bus.emit_opaque(opaque);
    bus.emit(&chunk("s", "after"));
    let log = load_file(&base).unwrap();
    assert!(log.sessions["s"].report.is_dense());
    let stored = &log.sessions["s"].records[1];
    assert_eq!(serde_json::to_string(&stored.event).unwrap(), text);
}
