//! Iterations of old logs, which counted differently and did not always end.

use harn_events::{InferredEnd, IterationBase, LoadReport, load_file};
use serde_json::{Value, json};

fn start(tag: &str, iteration: u64) -> Value {
    json!({"type": tag, "iteration": iteration})
}

fn end(tag: &str, iteration: u64) -> Value {
    let info = match tag {
        "turn_end" => "turn_info",
        _ => "iteration_info",
    };
    json!({"type": tag, "iteration": iteration, info: {}})
}

fn text() -> Value {
    json!({"type": "agent_message_chunk", "content": "c"})
}

/// What the loader reports about a session with these events.
fn report(events: &[Value]) -> LoadReport {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("event_log.jsonl");
    let mut lines = String::new();
    for (index, event) in events.iter().enumerate() {
        let mut record = event.clone();
        record["index"] = json!(index);
        record["emitted_at_ms"] = json!(index);
        record["session_id"] = json!("s");
        lines += &format!("{record}\n");
    }
    std::fs::write(&path, lines).expect("the scratch folder is writable");
    let mut log = load_file(&path).expect("the log is there");
    assert_eq!(log.damage, []);
    log.sessions
        .remove("s")
        .expect("the session is there")
        .report
}

#[track_caller]
fn check(events: &[Value], inferred: &[(usize, usize)]) {
    let inferred = inferred.iter().map(|(iteration, position)| InferredEnd {
        iteration: *iteration,
        position: *position,
    });
    assert_eq!(report(events).inferred_ends, inferred.collect::<Vec<_>>());
}

#[test]
fn an_iteration_with_an_end_needs_no_inference() {
    check(&[start("turn_start", 0), text(), end("turn_end", 0)], &[]);
    check(&[start("iteration_start", 1), end("iteration_end", 1)], &[]);
}

#[test]
fn an_iteration_without_an_end_is_over_at_the_next_start() {
    check(
        &[
            start("turn_start", 0),
            text(),
            start("turn_start", 1),
            end("turn_end", 1),
        ],
        &[(0, 2)],
    );
}

#[test]
fn an_iteration_without_an_end_is_over_at_the_end_of_another() {
    check(
        &[start("turn_start", 0), text(), end("turn_end", 1)],
        &[(0, 2)],
    );
}

#[test]
fn an_iteration_without_an_end_is_over_when_the_run_is() {
    for terminal in [
        json!({"type": "budget_exhausted", "max_iterations": 1}),
        json!({
            "type": "loop_stuck", "max_nudges": 1, "last_iteration": 0, "tail_excerpt": "t",
        }),
        json!({
            "type": "daemon_watchdog_tripped", "attempts": 1, "elapsed_ms": 2,
        }),
    ] {
        check(&[start("turn_start", 0), terminal, text()], &[(0, 1)]);
    }
}

#[test]
fn an_iteration_without_an_end_is_over_at_the_end_of_the_log() {
    check(&[start("turn_start", 4), text(), text()], &[(4, 3)]);
}

#[track_caller]
fn check_base(events: &[Value], base: Option<IterationBase>) {
    let first = report(events).runs.first().map(|run| run.base);
    assert_eq!(first, base);
}

#[test]
fn the_base_is_the_number_of_the_first_boundary() {
    check_base(
        &[start("turn_start", 0), end("turn_end", 0)],
        Some(IterationBase::Zero),
    );
    check_base(
        &[start("turn_start", 1), start("turn_start", 2)],
        Some(IterationBase::One),
    );
    check_base(
        &[text(), start("iteration_start", 7)],
        Some(IterationBase::Other(7)),
    );
    check_base(&[text()], None);
}

#[test]
fn every_run_has_a_base_of_its_own() {
    let exit =
        json!({"type": "loop_checkpoint", "iteration": 1, "kind": "loop_exit", "delivered": 0});
    let spent = json!({"type": "budget_exhausted", "max_iterations": 2});
    let runs = |events: &[Value]| -> Vec<(usize, IterationBase)> {
        let runs = report(events).runs;
        runs.iter().map(|run| (run.position, run.base)).collect()
    };
    let old = [start("turn_start", 0), start("turn_start", 1), spent];
    let new = [start("iteration_start", 1), end("iteration_end", 1), exit];
    let again = [start("iteration_start", 2), end("iteration_end", 2)];
    let events = [&old[..], &new[..], &again[..]].concat();
    assert_eq!(
        runs(&events),
        [
            (0, IterationBase::Zero),
            (3, IterationBase::One),
            (6, IterationBase::Other(2))
        ]
    );
    // Nothing marks the end of an old run, but its numbers start again.
    let events = [
        start("turn_start", 0),
        start("turn_start", 1),
        start("turn_start", 0),
    ];
    assert_eq!(
        runs(&events),
        [(0, IterationBase::Zero), (2, IterationBase::Zero)]
    );
}

#[test]
fn an_end_is_a_boundary_too() {
    check_base(
        &[end("turn_end", 0), start("turn_start", 1)],
        Some(IterationBase::Zero),
    );
}

#[test]
fn numbers_are_kept_as_recorded() {
    let line =
        r#"{"index":0,"emitted_at_ms":1,"type":"turn_start","session_id":"s","iteration":0}"#;
    let record = harn_events::StoredRecord::decode(line).unwrap();
    let event = serde_json::to_value(record.event.event().unwrap()).unwrap();
    assert_eq!(event["iteration"], json!(0));
}
