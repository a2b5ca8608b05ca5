//! `harn events check`.

use serde_json::json;

use crate::log_file::{Logs, iteration_end, iteration_start, line, message, whole_run};
use crate::program::{Call, harn};

const LOG: &str = "event_log-s.jsonl";

/// Checks one log with this text.
fn check(text: &str) -> Call {
    let logs = Logs::with(LOG, text);
    harn(&["events", "check", &logs.argument(LOG)])
}

fn check_json(text: &str) -> Call {
    let logs = Logs::with(LOG, text);
    harn(&["--json", "events", "check", &logs.argument(LOG)])
}

#[test]
fn a_whole_log_is_no_problem() {
    let call = check(&whole_run("s")).exits_with(0);
    assert_eq!(call.stdout, "s: 4 records, iterations from 1, complete\n");
    assert_eq!(call.stderr, "1 session, 4 records: no problems\n");
}

#[test]
fn sessions_of_a_folder_are_listed_by_id() {
    let logs = Logs::with("event_log-b.jsonl", &whole_run("b"));
    logs.add("event_log-a.jsonl", &message(0, "a"));
    logs.add("notes.jsonl", "not a log\n");
    let call = harn(&["events", "check", &logs.argument("")]).exits_with(0);
    let expected = "a: 1 record, no iterations, incomplete\n\
                    b: 4 records, iterations from 1, complete\n";
    assert_eq!(call.stdout, expected);
    assert_eq!(call.stderr, "2 sessions, 5 records: no problems\n");
}

#[test]
fn missing_indexes_are_a_problem() {
    let text = [0, 2, 6].map(|index| message(index, "s")).concat();
    let call = check(&text)
        .exits_with(1)
        .prints("  missing indexes: 1, 3 to 5");
    assert_eq!(call.stderr, "1 session, 3 records: 2 problems\n");
}

#[test]
fn duplicate_indexes_are_a_problem() {
    let text = [0, 1, 1, 2].map(|index| message(index, "s")).concat();
    let call = check(&text).exits_with(1).prints("  duplicate indexes: 1");
    assert_eq!(call.stderr, "1 session, 4 records: 1 problem\n");
}

#[test]
fn a_damaged_line_is_a_problem_and_has_a_place() {
    let first = message(0, "s");
    let logs = Logs::with(LOG, &format!("{first}not json\n{}", message(1, "s")));
    let call = harn(&["events", "check", &logs.argument(LOG)]).exits_with(1);
    let place = format!("{}:2 (byte {}): ", logs.argument(LOG), first.len());
    assert!(
        call.stdout.lines().any(|line| line.starts_with(&place)),
        "{call:?}"
    );
    assert!(!call.stdout.contains("torn tail"), "{call:?}");
    assert_eq!(call.stderr, "1 session, 2 records: 1 problem\n");
}

#[test]
fn a_torn_tail_is_mentioned_and_no_problem() {
    let whole = whole_run("s");
    let logs = Logs::with(LOG, &format!("{whole}{{\"index\":4,"));
    let call = harn(&["events", "check", &logs.argument(LOG)]).exits_with(0);
    let place = format!("{}:5 (byte {}): ", logs.argument(LOG), whole.len());
    let torn = call.stdout.lines().find(|line| line.starts_with(&place));
    assert!(
        torn.is_some_and(|line| line.ends_with("(torn tail)")),
        "{call:?}"
    );
}

#[test]
fn records_of_other_versions_are_mentioned_and_no_problem() {
    let text = [
        line(0, "s", json!({"type": "turn_start", "iteration": 0})),
        line(
            1,
            "s",
            json!({"type": "invented_tomorrow", "anything": [1, 2]}),
        ),
        line(
            2,
            "s",
            json!({"type": "turn_end", "iteration": 0, "turn_info": {}}),
        ),
    ]
    .concat();
    check(&text)
        .exits_with(0)
        .prints("s: 3 records, iterations from 0, complete")
        .prints("  adapted from other versions: 2")
        .prints("  not understood, kept as opaque: 1");
}

#[test]
fn an_iteration_without_an_end_is_mentioned_and_no_problem() {
    let text = [
        iteration_start(0, "s", 1),
        message(1, "s"),
        iteration_start(2, "s", 2),
        iteration_end(3, "s", 2),
    ]
    .concat();
    check(&text)
        .exits_with(0)
        .prints("  iteration 1 has no end; over after 2 records");
}

#[test]
fn a_record_without_a_session_is_mentioned() {
    let homeless = "{\"index\":0,\"emitted_at_ms\":1,\"type\":\"invented_tomorrow\"}\n";
    check(homeless)
        .exits_with(0)
        .prints("without a session: 1 record");
}

#[test]
fn a_path_that_cannot_be_read_is_a_problem_and_the_others_are_still_checked() {
    let logs = Logs::with(LOG, &whole_run("s"));
    let missing = logs.argument("event_log-gone.jsonl");
    let call = harn(&["events", "check", &missing, &logs.argument(LOG)])
        .exits_with(1)
        .prints("s: 4 records, iterations from 1, complete");
    let complaint = format!("error: cannot read {missing}: ");
    assert!(call.stderr.starts_with(&complaint), "{call:?}");
}

#[test]
fn a_folder_that_is_not_there_is_a_problem() {
    let logs = Logs::new();
    let call = harn(&["events", "check", &logs.argument("gone")]).exits_with(1);
    assert!(call.stderr.starts_with("error: cannot read "), "{call:?}");
}

#[test]
fn a_folder_without_logs_is_no_problem() {
    let logs = Logs::new();
    let call = harn(&["events", "check", &logs.argument("")]).exits_with(0);
    assert_eq!(call.stdout, "");
    assert_eq!(call.stderr, "0 sessions, 0 records: no problems\n");
}

#[test]
fn a_segment_stands_for_its_log() {
    let logs = Logs::with(LOG, &message(0, "s"));
    let segment = "event_log-s-000001.jsonl";
    logs.add(segment, &message(1, "s"));
    let (base, segment) = (logs.argument(LOG), logs.argument(segment));
    let call = harn(&["events", "check", &segment, &base]).exits_with(0);
    assert_eq!(call.stdout, "s: 2 records, no iterations, incomplete\n");
}

#[test]
fn several_paths_have_a_heading_each() {
    let logs = Logs::with("one.jsonl", &message(0, "a"));
    logs.add("two.jsonl", &message(0, "b"));
    let (one, two) = (logs.argument("one.jsonl"), logs.argument("two.jsonl"));
    let call = harn(&["events", "check", &one, &two]).exits_with(0);
    let lines: Vec<&str> = call.stdout.lines().collect();
    assert_eq!((lines[0], lines[2]), (one.as_str(), two.as_str()));
}

#[test]
fn json_says_everything_under_stable_names() {
    let torn = "{\"index\":";
    let text = [
        iteration_start(0, "s", 1),
        message(2, "s"),
        message(2, "s"),
        line(
            3,
            "s",
            json!({"type": "turn_end", "iteration": 1, "turn_info": {}}),
        ),
        iteration_start(4, "s", 2),
        line(5, "s", json!({"type": "invented_tomorrow"})),
    ]
    .concat();
    let logs = Logs::with(LOG, &format!("{text}{torn}"));
    let path = logs.argument(LOG);
    let call = harn(&["events", "check", "--json", &path]).exits_with(1);
    assert_eq!(call.stderr, "");
    let mut answer = call.json();
    let reason = answer["paths"][0]["damage"][0]["reason"].take();
    assert!(reason.is_string());
    let expected = json!({
        "ok": false,
        "paths": [{
            "path": path,
            "error": null,
            "sessions": [{
                "session_id": "s",
                "records": 6,
                "is_dense": false,
                "is_complete": false,
                "missing": [[1, 1]],
                "duplicates": [2],
                "opaque": 1,
                "adapted": 1,
                "nulls_as_zero": 0,
                "iteration_base": 1,
                "inferred_ends": [{"iteration": 2, "position": 6}],
            }],
            "homeless_records": 0,
            "damage": [{
                "path": path,
                "line": 7,
                "offset": text.len(),
                "reason": null,
                "is_torn_tail": true,
            }],
        }],
    });
    assert_eq!(answer, expected);
}

#[test]
fn json_of_a_whole_log_is_ok_and_one_line() {
    let call = check_json(&whole_run("s")).exits_with(0);
    assert_eq!(call.json()["ok"], true);
    assert_eq!(call.stdout.lines().count(), 1);
}

#[test]
fn json_keeps_the_errors_of_paths() {
    let logs = Logs::new();
    let call = harn(&["--json", "events", "check", &logs.argument("gone")]).exits_with(1);
    let answer = call.json();
    assert_eq!(answer["ok"], false);
    let error = answer["paths"][0]["error"].as_str();
    assert!(
        error.is_some_and(|text| text.starts_with("cannot read ")),
        "{answer}"
    );
}

#[test]
fn a_session_id_cannot_paint_the_terminal() {
    let call = check(&message(0, "a\u{1b}[31mb\nc")).exits_with(0);
    assert_eq!(call.stdout.lines().count(), 1, "{call:?}");
    assert!(!call.stdout.contains('\u{1b}'), "{call:?}");
}
