//! `harn events show`.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use super::{BACKENDS, Backend, NOW_MS, ORDERS, Project, SECOND, SESSION, ids, json_lines};
use crate::program::finished;

/// The ids that these arguments show, as JSON and as text.
#[track_caller]
fn check(arguments: &[&str], expected: &[u64]) {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&[&["show", "--json"], arguments].concat());
        assert_eq!(
            ids(&call.exits_with(0)),
            expected,
            "{backend:?} {arguments:?}"
        );
        let call = project.harn(&[&["show"], arguments].concat()).exits_with(0);
        let words = call
            .stdout
            .lines()
            .map(|line| line.split_whitespace().next());
        let shown: Vec<u64> = words
            .map(|word| {
                word.and_then(|word| word.parse().ok())
                    .expect("lines begin with an id")
            })
            .collect();
        assert_eq!(shown, expected, "{backend:?} {arguments:?}");
    }
}

#[test]
fn a_record_is_one_line() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["show", ORDERS]).exits_with(0);
        let expected = "\
1    2h ago  placed                id=7
2    3s ago  shipped               by=\"Post\" id=7
";
        assert_eq!(call.stdout, expected);
        assert_eq!(call.stderr, "");
    }
}

#[test]
fn the_story_of_a_session_is_told_without_obeying_it() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["show", "--session", "s/1"]).exits_with(0);
        let expected = r#"1   10m ago  user_message          Fix the Bug
2    9m ago  tool_call             read {"path":"a.rs"}
4    7m ago  agent_message_chunk   Done.\n\u{1b}[31m
"#;
        assert_eq!(call.stdout, expected);
    }
}

#[test]
fn all_topics_together_are_sorted_by_time() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["show"]).exits_with(0);
        let lines: Vec<&str> = call.stdout.lines().collect();
        assert_eq!(lines.len(), 6);
        let first = "1    2h ago  orders                          placed                id=7";
        assert_eq!(lines[0], first);
        let second =
            "1   10m ago  observability.agent_events.s_1  user_message          Fix the Bug";
        assert_eq!(lines[1], second);
        assert!(lines[5].contains("shipped"), "{lines:?}");
    }
}

#[test]
fn times_can_be_absolute() {
    let project = Project::with_records(Backend::File);
    project
        .harn(&["show", ORDERS, "--absolute"])
        .prints("1  2026-01-31T10:00:00.000Z  placed                id=7");
}

#[test]
fn lines_fit_the_terminal() {
    let project = Project::with_records(Backend::Sqlite);
    let long = "日本語 ".repeat(100);
    project.append_one(ORDERS, "noted", json!({"text": long}));
    for (columns, expected) in [
        ("40", "3  just now  noted                 text…"),
        ("46", "3  just now  noted                 text=\"日本…"),
        ("16", "3  just now  no…"),
    ] {
        let mut program = project.program();
        program.env("COLUMNS", columns);
        let call = finished(program.args(["events", "show", ORDERS, "--last", "1"]));
        assert_eq!(call.stdout, format!("{expected}\n"), "{columns} columns");
    }
}

#[test]
fn colours_add_nothing_to_the_text() {
    let project = Project::with_records(Backend::Sqlite);
    let plain = project.harn(&["show"]).stdout;
    let coloured = project.harn(&["show", "--color", "always"]).stdout;
    assert!(
        coloured.contains("\u{1b}[33mtool_call\u{1b}[0m"),
        "{coloured}"
    );
    let mut parts = coloured.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    let text = parts.fold(first, |text, part| text + part.split_once('m').unwrap().1);
    assert_eq!(text, plain);
}

#[test]
fn json_is_one_object_a_line() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["show", ORDERS, "--json"]).exits_with(0);
        let records = json_lines(&call);
        assert_eq!(records.len(), 2);
        let record = records[1].as_object().unwrap();
        let mut keys: Vec<&str> = record.keys().map(String::as_str).collect();
        keys.sort_unstable();
        let expected = [
            "headers",
            "id",
            "kind",
            "occurred_at_ms",
            "payload",
            "topic",
        ];
        assert_eq!(keys, expected);
        assert_eq!(record["id"], 2);
        assert_eq!(record["topic"], "orders");
        assert_eq!(record["kind"], "shipped");
        assert_eq!(record["payload"], json!({"by": "Post", "id": 7}));
        assert_eq!(record["occurred_at_ms"], NOW_MS - 3 * SECOND);
        let schema = &record["headers"]["harn.provenance.schema"];
        assert_eq!(schema, "harn-eventlog-provenance-v1");
    }
}

#[test]
fn sessions_that_share_a_topic_are_told_apart() {
    check(&["--session", "s/1"], &[1, 2, 4]);
    check(&["--session", "s_1"], &[3]);
    check(&[SESSION, "--session", "s_1"], &[3]);
    check(&[SESSION], &[1, 2, 3, 4]);
    check(&[ORDERS, "--session", "s_1"], &[]);
}

#[test]
fn types_filter() {
    check(&[SESSION, "--type", "tool_call"], &[2]);
    check(
        &[SESSION, "--type", "tool_call", "--type", "user_message"],
        &[1, 2],
    );
    check(&[SESSION, "--type", "plan"], &[]);
}

#[test]
fn times_filter() {
    check(&[SESSION, "--since", "9m"], &[2, 3, 4]);
    check(&[SESSION, "--until", "9m"], &[1]);
    check(
        &[SESSION, "--since", "2026-01-31T11:51:00Z", "--until", "8m"],
        &[2],
    );
    check(
        &[SESSION, "--since", "2026-01-31T13:51:00+02:00"],
        &[2, 3, 4],
    );
    check(&[SESSION, "--since", "2026-02-01"], &[]);
    check(&["--since", "8m"], &[3, 4, 2]);
}

#[test]
fn text_filters() {
    check(&[SESSION, "--text", "the bug"], &[1]);
    check(&[SESSION, "--text", "\"path\":\"a.rs\""], &[2]);
    check(&[SESSION, "--text", "Done.\n"], &[4]);
    check(&["--text", "POST"], &[2]);
}

#[test]
fn ids_and_numbers_bound() {
    check(&[SESSION, "--from", "3"], &[3, 4]);
    check(&[SESSION, "--from", "0"], &[1, 2, 3, 4]);
    check(&[SESSION, "--from", "9"], &[]);
    check(&[SESSION, "--limit", "2"], &[1, 2]);
    check(&[SESSION, "--last", "2"], &[3, 4]);
    check(&[SESSION, "--last", "0"], &[]);
    check(&["--session", "s/1", "--last", "2"], &[2, 4]);
    check(&["--session", "s/1", "--last", "9", "--from", "2"], &[2, 4]);
    check(&["--session", "s/1", "--limit", "1", "--from", "3"], &[4]);
    check(&["--last", "2"], &[4, 2]);
}

#[test]
fn nothing_found_is_no_failure() {
    let project = Project::with_records(Backend::Sqlite);
    let call = project.harn(&["show", "--type", "plan"]).exits_with(0);
    assert_eq!(call.stdout, "");
    assert_eq!(call.stderr, "no records\n");
    let call = project.harn(&["show", "--type", "plan", "--json"]);
    assert_eq!(call.exits_with(0).stderr, "");
}

#[test]
fn a_bad_time_says_what_a_time_looks_like() {
    let project = Project::with_records(Backend::Sqlite);
    let call = project
        .harn(&["show", "--since", "yesterday"])
        .exits_with(2);
    let said = call.stderr.replace('\n', " ");
    assert!(said.contains("'yesterday'"), "{said}");
    assert!(said.contains("2026-01-31T12:00:00Z"), "{said}");
    assert!(said.contains("10m"), "{said}");
}

#[test]
fn more_records_than_a_chunk_are_shown_once_and_in_order() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        let event = |n: u64| harn_log::LogEvent::at("n", json!(n), NOW_MS);
        project.append_batch("many", (1..=2500).map(event).collect());
        let all: Vec<u64> = (1..=2500).collect();
        assert_eq!(ids(&project.harn(&["show", "many", "--json"])), all);
        let call = project.harn(&["show", "many", "--json", "--last", "2000"]);
        assert_eq!(ids(&call), all[500..]);
        let call = project.harn(&["show", "many", "--json", "--text", "24", "--last", "3"]);
        assert_eq!(ids(&call), [2497, 2498, 2499]);
        let call = project.harn(&["show", "many", "--json", "--text", "77", "--last", "2"]);
        assert_eq!(ids(&call), [2377, 2477]);
    }
}

#[test]
fn a_narrow_terminal_has_room_for_more_than_topics() {
    let project = Project::with_records(Backend::File);
    let mut program = project.program();
    program.env("COLUMNS", "60");
    let call = finished(program.args(["events", "show", "--type", "user_message"]));
    // A quarter is fifteen columns, and eight are left for the rest.
    let expected = "1   10m ago  …ent_events.s_1  user_message          Fix the…\n";
    assert_eq!(call.stdout, expected);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        let event = |n: u64| harn_log::LogEvent::at("n", json!(n), NOW_MS);
        project.append_batch("many", (1..=5000).map(event).collect());
        for command in [&["show"][..], &["show", "--json"], &["export", "--all"]] {
            let mut program = project.program();
            program.arg("events").args(command);
            let spawned = program
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            let mut child = spawned.unwrap();
            let mut first = [0; 1];
            let mut stdout = child.stdout.take().unwrap();
            stdout.read_exact(&mut first).unwrap();
            drop(stdout);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{command:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command:?}");
        }
    }
}

#[test]
fn what_is_left_after_compaction_is_shown() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        for n in 1..=6 {
            project.append_one(ORDERS, "placed", json!({"id": n}));
        }
        project.compact(ORDERS, 4);
        for (arguments, expected) in [
            (&["show", ORDERS, "--json"][..], &[5, 6][..]),
            (&["show", ORDERS, "--json", "--last", "9"], &[5, 6]),
            (&["show", ORDERS, "--json", "--last", "1"], &[6]),
            (&["show", ORDERS, "--json", "--from", "2"], &[5, 6]),
            (&["tail", "--json", "--text", "5"], &[5]),
        ] {
            let call = project.harn(arguments).exits_with(0);
            assert_eq!(ids(&call), expected, "{backend:?} {arguments:?}");
        }
        let call = project.harn(&["verify"]).exits_with(0);
        assert_eq!(call.stdout, "✓ orders  2 records\n");
    }
}
