//! The lists of a session that become longer with each of its iterations.

use std::path::Path;

use harn_events::{
    AgentEvent, AgentEventSink, IterationInfo, JsonlEventSink, JsonlOptions, NameList, load_file,
};
use serde_json::{Value, json};

const ITERATIONS: usize = 40;

/// Emits the ends of iterations, each with one call more.
fn emit(sink: &JsonlEventSink) {
    let mut used = NameList::default();
    for iteration in 1..=ITERATIONS {
        used.push(format!("tool-{iteration}"));
        let info = IterationInfo::from(json!({"tool_count": 1}));
        sink.handle_event(&AgentEvent::IterationEnd {
            session_id: "s".to_owned(),
            iteration,
            iteration_info: info.with_session_tools(used.clone(), used.clone()),
        });
    }
}

/// The lists that a reader of a file gets.
fn lists_in(file: &Path) -> Vec<Value> {
    let log = load_file(file).unwrap();
    let events = log
        .sessions
        .get("s")
        .into_iter()
        .flat_map(|log| &log.records);
    let infos = events.map(|record| match record.event.event() {
        Some(AgentEvent::IterationEnd { iteration_info, .. }) => json!(iteration_info),
        other => panic!("unexpected record {other:?}"),
    });
    infos
        .map(|info| info["session_tools_used"].clone())
        .collect()
}

fn first_tools(count: usize) -> Value {
    let names = (1..=count).map(|number| format!("tool-{number}"));
    names.collect()
}

#[test]
fn they_take_the_space_of_what_is_new_and_are_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("event_log-s.jsonl");
    let sink = JsonlEventSink::open(&file).unwrap();
    emit(&sink);
    drop(sink);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[ITERATIONS - 1].len(), lines[ITERATIONS - 2].len());
    assert_eq!(text.matches("\"tool-1\"").count(), 2, "once in each list");
    let expected: Vec<Value> = (1..=ITERATIONS).map(first_tools).collect();
    assert_eq!(lists_in(&file), expected);
}

/// Files are moved and deleted one by one.
#[test]
fn each_file_of_a_log_can_be_read_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("event_log-s.jsonl");
    let options = JsonlOptions {
        rotate_bytes: 3_000,
        ..JsonlOptions::default()
    };
    let sink = JsonlEventSink::open_with(&file, options).unwrap();
    emit(&sink);
    drop(sink);
    let expected: Vec<Value> = (1..=ITERATIONS).map(first_tools).collect();
    assert_eq!(lists_in(&file), expected, "all files together");
    let mut files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 2, "{files:?}");
    let alone = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for one in files {
        let copy = alone.path().join("event_log-s.jsonl");
        std::fs::copy(&one, &copy).unwrap();
        let lists = lists_in(&copy);
        let Some(first) = lists.first() else {
            continue;
        };
        let first = expected.iter().position(|list| list == first).unwrap();
        assert_eq!(lists, expected[first..first + lists.len()], "{one:?}");
        seen += lists.len();
    }
    assert_eq!(seen, ITERATIONS);
}

/// A later process knows nothing of what was stored and begins with a whole list.
#[test]
fn they_go_on_in_a_log_that_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("event_log-s.jsonl");
    for _ in 0..2 {
        emit(&JsonlEventSink::open(&file).unwrap());
    }
    let once = (1..=ITERATIONS).map(first_tools);
    let twice: Vec<Value> = once.clone().chain(once).collect();
    assert_eq!(lists_in(&file), twice);
}
