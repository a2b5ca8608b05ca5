//! `harn events export`.

use std::fs;

use harn_log::{EventLog, LogEvent, Topic, block_on};
use serde_json::{Value, json};

use super::{BACKENDS, Backend, ORDERS, Project, SESSION, json_lines};

#[test]
fn lines_hold_all_it_takes_to_read_a_record_back() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["export", ORDERS]).exits_with(0);
        assert_eq!(call.stderr, "");
        let lines = json_lines(&call);
        let topic = Topic::new(ORDERS).unwrap();
        let stored = block_on(project.open().read_range(&topic, None, 9)).unwrap();
        assert_eq!(lines.len(), stored.len());
        for (line, (id, event)) in lines.iter().zip(stored) {
            assert_eq!(line["topic"], ORDERS);
            assert_eq!(line["id"], id);
            let read_back: LogEvent = serde_json::from_value(line["event"].clone()).unwrap();
            assert_eq!(read_back, event);
            assert_eq!(line.as_object().unwrap().len(), 3);
        }
    }
}

#[test]
fn topics_come_one_after_the_other() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let topics = |call| -> Vec<String> {
            let lines = json_lines(&call);
            lines
                .iter()
                .map(|line| line["topic"].as_str().unwrap().to_owned())
                .collect()
        };
        let all = topics(project.harn(&["export", "--all"]).exits_with(0));
        assert_eq!(all, [SESSION, SESSION, SESSION, SESSION, ORDERS, ORDERS]);
        let named = topics(project.harn(&["export", ORDERS, SESSION]).exits_with(0));
        assert_eq!(named, [ORDERS, ORDERS, SESSION, SESSION, SESSION, SESSION]);
    }
}

#[test]
fn filters_hold() {
    let project = Project::with_records(Backend::Sqlite);
    let ids = |arguments: &[&str]| -> Vec<u64> {
        let call = project
            .harn(&[&["export"], arguments].concat())
            .exits_with(0);
        json_lines(&call)
            .iter()
            .map(|line| line["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids(&["--session", "s/1"]), [1, 2, 4]);
    assert_eq!(ids(&["--all", "--since", "8m"]), [3, 4, 2]);
    assert_eq!(ids(&["--all", "--type", "placed"]), [1]);
    assert_eq!(ids(&[ORDERS, "--from", "2"]), [2]);
}

#[test]
fn a_file_is_there_when_it_is_complete() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let file = project.folder().join("out.jsonl");
        fs::write(&file, "an earlier one").unwrap();
        let call = project
            .harn(&["export", "--all", "-o", "out.jsonl"])
            .exits_with(0);
        assert_eq!(call.stdout, "");
        assert_eq!(call.stderr, "6 records of 2 topics written to out.jsonl\n");
        let expected = project.harn(&["export", "--all"]).stdout;
        assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        let answer = project
            .harn(&["export", ORDERS, "-o", "out.jsonl", "--json"])
            .json();
        assert_eq!(
            answer,
            json!({"file": "out.jsonl", "topics": 1, "records": 2})
        );
    }
}

#[test]
fn an_export_that_fails_leaves_the_earlier_file() {
    let project = Project::with_records(Backend::File);
    project.tamper(ORDERS, |bytes| bytes[200] ^= 1);
    let file = project.folder().join("out.jsonl");
    fs::write(&file, "an earlier one").unwrap();
    let before = project.files();
    let call = project
        .harn(&["export", "--all", "-o", "out.jsonl"])
        .exits_with(1);
    assert!(call.stderr.contains("is damaged at byte 0"), "{call:?}");
    assert!(project.files() == before, "and nothing else");
    let call = project
        .harn(&["export", "--all", "-o", "nowhere/out.jsonl"])
        .exits_with(1);
    let expected =
        "error: cannot write nowhere/out.jsonl: No such file or directory (os error 2)\n";
    assert_eq!(call.stderr, expected);
}

#[test]
fn a_hundred_thousand_records_are_copied_line_by_line() {
    let project = Project::new(Backend::Sqlite);
    let event = |n: u64| LogEvent::at("n", json!(n), 0);
    project.append_batch("many", (1..=100_000).map(event).collect());
    project
        .harn(&["export", "many", "-o", "out.jsonl"])
        .exits_with(0);
    let text = fs::read_to_string(project.folder().join("out.jsonl")).unwrap();
    for (line, n) in text.lines().zip(1_u64..).step_by(9999) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["id"], n);
        assert_eq!(line["event"]["payload"], n);
    }
    assert_eq!(text.lines().count(), 100_000);
}
