//! Logs of every published version, and of versions to come, stay readable.
//!
//! The fixtures are small logs as their writers left them. They never change;
//! a reader that needs one of them changed has broken somebody's log.

use std::path::{Path, PathBuf};

use harn_events::{
    Adaptation, AgentEvent, DecodeError, InferredEnd, IterationBase, LoadReport, LoadedLog, Mode,
    OpenBrackets, RawObject, RecordedEvent, RunStart, SessionLog, StoredRecord, load_file,
};
use serde_json::{Value, json};

/// What became of a record.
#[derive(Debug, PartialEq)]
enum Read {
    /// It is today's.
    Known,
    /// It was understood by these rules.
    Adapted(Vec<Adaptation>),
    /// It was kept.
    Opaque,
}

use Adaptation::{
    ArgumentsFromOutput, EventFromStatus, FieldsFromReceipt, LegacyTag, MissingReason, NullAsZero,
    StatusAlias, UnknownKeys, UnknownValue,
};
use Read::{Adapted, Known, Opaque};

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    folder.join(name)
}

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(fixture(name)).expect("the fixture is there");
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

fn load(name: &str) -> LoadedLog {
    let log = load_file(&fixture(name)).expect("the fixture is there");
    assert_eq!(log.damage, [], "nothing in a fixture is damaged");
    log
}

fn session(name: &str, session_id: &str) -> SessionLog {
    let mut log = load(name);
    let session = log.sessions.remove(session_id);
    session.expect("the fixture has the session")
}

fn outcome(record: &StoredRecord) -> Read {
    match &record.event {
        RecordedEvent::Known(_) => Known,
        RecordedEvent::Adapted(adapted) => Adapted(adapted.adaptations.clone()),
        RecordedEvent::Opaque(_) => Opaque,
    }
}

/// Compares every record of a session: its tag as written, and how it was read.
#[track_caller]
fn check(log: &SessionLog, expected: &[(&str, Read)]) {
    for (record, (tag, read)) in log.records.iter().zip(expected) {
        let found = (record.event.tag(), outcome(record));
        assert_eq!((found.0, &found.1), (*tag, read), "record {}", record.index);
    }
    assert_eq!(log.records.len(), expected.len());
}

/// The event at a position, as today's writer would put it.
#[track_caller]
fn today(log: &SessionLog, position: usize) -> Value {
    let event = log.records[position].event.event();
    serde_json::to_value(event.expect("the record is understood")).expect("it is plain JSON")
}

/// Keys and raw texts beside the envelope.
fn content(line: &str) -> Vec<(String, String)> {
    const ENVELOPE: [&str; 4] = ["index", "emitted_at_ms", "frame_depth", "execution_id"];
    let object: RawObject = serde_json::from_str(line).expect("a record is an object");
    let kept = object.iter().filter(|(key, _)| !ENVELOPE.contains(key));
    kept.map(|(key, value)| (key.to_owned(), value.get().to_owned()))
        .collect()
}

#[test]
fn a_log_of_version_1_is_read() {
    let log = session("v1.jsonl", "v1");
    check(
        &log,
        &[
            ("turn_start", Adapted(vec![LegacyTag("turn_start")])),
            ("agent_message_chunk", Known),
            ("tool_call", Known),
            ("tool_call_update", Known),
            ("tool_call_update", Known),
            ("turn_end", Adapted(vec![LegacyTag("turn_end")])),
            ("turn_start", Adapted(vec![LegacyTag("turn_start")])),
            ("agent_message_chunk", Known),
            ("transcript_compacted", Adapted(vec![MissingReason])),
            ("turn_start", Adapted(vec![LegacyTag("turn_start")])),
            ("handoff", Adapted(vec![Adaptation::NestedKeys])),
            ("budget_exhausted", Known),
        ],
    );
    assert_eq!(
        today(&log, 0),
        json!({"type": "iteration_start", "session_id": "v1", "iteration": 0})
    );
    assert_eq!(
        today(&log, 5),
        json!({
            "type": "iteration_end", "session_id": "v1", "iteration": 0,
            "iteration_info": {
                "tool_names": ["read_file"], "tool_results": [{"ok": true}],
                "successful_tool_names": ["read_file"], "tool_count": 1, "iteration": 0,
                "failed": false, "consecutive_single_tool_turns": 1,
                "session_tools_used": ["read_file"], "session_successful_tools": ["read_file"],
            },
        })
    );
    let AgentEvent::TranscriptCompacted {
        reason,
        instruction_mode: None,
        instruction_source: None,
        compaction_policy: None,
        ..
    } = log.records[8].event.event().unwrap()
    else {
        panic!("{:?}", log.records[8]);
    };
    assert_eq!(reason, "");
    let AgentEvent::BudgetExhausted {
        max_iterations: 3,
        kind: None,
        cost_usd: None,
        wall_clock_ms: None,
        ..
    } = log.records[11].event.event().unwrap()
    else {
        panic!("{:?}", log.records[11]);
    };
}

#[test]
fn fields_that_version_1_did_not_have_are_null() {
    let log = session("v1.jsonl", "v1");
    let AgentEvent::ToolCall {
        parsing: None,
        audit: None,
        ..
    } = log.records[2].event.event().unwrap()
    else {
        panic!("{:?}", log.records[2]);
    };
    let AgentEvent::ToolCallUpdate {
        duration_ms: None,
        execution_duration_ms: None,
        error_category: None,
        executor: None,
        parsing: None,
        raw_input: None,
        raw_input_partial: None,
        audit: None,
        ..
    } = log.records[3].event.event().unwrap()
    else {
        panic!("{:?}", log.records[3]);
    };
    let AgentEvent::Handoff { handoff, .. } = log.records[10].event.event().unwrap() else {
        panic!("{:?}", log.records[10]);
    };
    assert_eq!(handoff.kind, "");
    assert_eq!(handoff.policy_override, None);
    assert_eq!(handoff.reminder_propagation, []);
    assert_eq!(handoff.effects, []);
    assert_eq!(handoff.route_decision, None);
    assert_eq!(handoff.source_persona, "coder");
    for record in &log.records {
        assert_eq!((record.frame_depth, &record.execution_id), (None, &None));
    }
}

#[test]
fn a_log_of_version_1_reports_its_base_and_the_ends_it_left_out() {
    let report = session("v1.jsonl", "v1").report;
    assert_eq!(
        report,
        LoadReport {
            adapted: 6,
            runs: vec![RunStart {
                position: 0,
                base: IterationBase::Zero,
            }],
            inferred_ends: vec![
                // At the next boundary.
                InferredEnd {
                    iteration: 1,
                    position: 9
                },
                // At the event that ended the run.
                InferredEnd {
                    iteration: 2,
                    position: 11
                },
            ],
            is_complete: true,
            ..LoadReport::default()
        }
    );
    assert!(report.is_dense());
}

#[test]
fn a_log_of_version_2_is_read() {
    let log = session("v2.jsonl", "v2");
    check(
        &log,
        &[
            ("turn_start", Adapted(vec![LegacyTag("turn_start")])),
            ("tool_call", Known),
            ("tool_call_update", Adapted(vec![ArgumentsFromOutput])),
            ("tool_call", Known),
            ("tool_call", Known),
            ("tool_call_update", Known),
            ("judge_decision", Known),
            ("tool_call_audit", Known),
            ("worker_update", Known),
            ("worker_update", Known),
            ("worker_update", Adapted(vec![StatusAlias])),
            ("worker_update", Adapted(vec![StatusAlias])),
            ("worker_update", Adapted(vec![StatusAlias, EventFromStatus])),
            ("hitl_requested", Known),
            ("hitl_resolved", Known),
            ("turn_end", Adapted(vec![LegacyTag("turn_end")])),
            ("turn_start", Adapted(vec![LegacyTag("turn_start")])),
            ("agent_message_chunk", Known),
        ],
    );
    let promoted = today(&log, 2);
    assert_eq!(promoted["raw_input"], json!({"path": "a.rs", "line": 1.5}));
    assert_eq!(promoted["raw_output"], Value::Null);
    for (position, event, status) in [
        (10, "WorkerWaitingForInput", "awaiting_input"),
        (11, "WorkerCompleted", "completed"),
        (12, "WorkerFailed", "failed"),
    ] {
        let update = today(&log, position);
        assert_eq!(
            (&update["event"], &update["status"]),
            (&json!(event), &json!(status))
        );
    }
    assert_eq!(today(&log, 6).get("trigger"), None);
    assert_eq!(today(&log, 7).get("receipt"), None);
    assert_eq!(log.report.runs[0].base, IterationBase::One);
    let open_at_the_end = InferredEnd {
        iteration: 2,
        position: 18,
    };
    assert_eq!(log.report.inferred_ends, [open_at_the_end]);
    assert!(!log.report.is_complete, "nothing follows the last start");
}

#[test]
fn two_starts_of_one_call_are_two_records_and_one_call() {
    let log = session("v2.jsonl", "v2");
    let inputs: Vec<Value> = [3, 4]
        .map(|position| today(&log, position)["raw_input"].clone())
        .into();
    assert_eq!(inputs, [json!({}), json!({"path": "a.rs"})]);
    let mut brackets = OpenBrackets::default();
    for record in &log.records[..5] {
        brackets.apply(record.event.event().unwrap());
    }
    let open: Vec<&str> = brackets.calls().into_iter().map(|(id, _)| id).collect();
    assert_eq!(open, ["tool-7"]);
}

#[test]
fn a_log_of_version_3_is_read_without_a_remark_and_copied_byte_for_byte() {
    let log = session("v3.jsonl", "v3");
    assert!(log.records.iter().all(|record| outcome(record) == Known));
    let copied: Vec<String> = log
        .records
        .iter()
        .map(|record| serde_json::to_string(record).unwrap())
        .collect();
    assert_eq!(copied, lines("v3.jsonl"));
    assert_eq!(
        log.report,
        LoadReport {
            runs: vec![RunStart {
                position: 1,
                base: IterationBase::One,
            }],
            is_complete: true,
            ..LoadReport::default()
        }
    );
    assert_eq!(log.records[1].frame_depth, Some(2));
    assert_eq!(log.records[1].execution_id.as_deref(), Some("x-1"));
}

#[test]
fn one_file_may_hold_all_versions() {
    let log = session("mixed.jsonl", "mixed");
    check(
        &log,
        &[
            ("turn_start", Adapted(vec![LegacyTag("turn_start")])),
            ("turn_end", Adapted(vec![LegacyTag("turn_end")])),
            ("transcript_compacted", Adapted(vec![MissingReason])),
            ("iteration_start", Known),
            ("agent_message_chunk", Known),
            (
                "step_judge_decision",
                Adapted(vec![NullAsZero("confidence"), NullAsZero("cost_usd")]),
            ),
            ("iteration_end", Known),
        ],
    );
    assert!(log.report.is_dense(), "records are sorted by index");
    assert_eq!(log.report.nulls_as_zero, 2);
    assert_eq!(today(&log, 5)["confidence"], json!(0.0));
    assert_eq!(log.records[3].frame_depth, Some(7));
    assert_eq!(log.report.inferred_ends, []);
    let other = session("mixed.jsonl", "other");
    check(&other, &[("iteration_start", Known), ("model_job", Opaque)]);
    assert_eq!(other.report.opaque, 1);
}

#[test]
fn what_later_versions_write_is_understood_or_kept() {
    let log = session("later.jsonl", "later");
    let unknown_kind = Adapted(vec![UnknownValue("/kind"), UnknownKeys(1)]);
    check(
        &log,
        &[
            ("turn_phase_changed", Opaque),
            (
                "transcript_compacted",
                Adapted(vec![FieldsFromReceipt, UnknownKeys(1)]),
            ),
            ("tool_call", unknown_kind),
            ("tool_call_update", Adapted(vec![UnknownKeys(4)])),
            (
                "tool_call_update",
                Adapted(vec![UnknownValue("/error_category")]),
            ),
            ("tool_call_update", Opaque),
            ("agent_message_chunk", Adapted(vec![UnknownKeys(1)])),
            ("user_message", Adapted(vec![UnknownKeys(1)])),
            ("loop_checkpoint", Adapted(vec![UnknownKeys(1)])),
            ("feedback_injected", Adapted(vec![UnknownKeys(5)])),
            ("worker_update", Adapted(vec![EventFromStatus])),
            ("worker_update", Opaque),
            ("loop_checkpoint", Opaque),
            ("iteration_end", Opaque),
            ("", Opaque),
            ("tool_call_audit", Opaque),
        ],
    );
    assert_eq!((log.report.opaque, log.report.adapted), (7, 9));
    assert!(
        log.report.is_dense(),
        "opaque records take part in indexing"
    );
    assert_eq!(
        today(&log, 1),
        json!({
            "type": "transcript_compacted", "session_id": "later", "mode": "host",
            "reason": "context_overflow", "strategy": "summarise", "archived_messages": 7,
            "estimated_tokens_before": 100, "estimated_tokens_after": 10,
            "snapshot_asset_id": "asset-1", "compaction_policy": {"keep": 2},
        })
    );
    assert_eq!(today(&log, 2)["kind"], json!("other"));
    assert_eq!(today(&log, 4)["error_category"], json!("unknown"));
    assert_eq!(today(&log, 8)["kind"], json!("command_hold"));
    assert_eq!(today(&log, 10)["event"], json!("WorkerSuspended"));
    let homeless = load("later.jsonl").homeless;
    assert_eq!(homeless.len(), 1);
    assert_eq!(
        (homeless[0].event.tag(), homeless[0].session_id()),
        ("boundary_failure", None)
    );
}

#[test]
fn a_record_of_another_version_is_copied_as_it_was_written() {
    for name in ["v1.jsonl", "v2.jsonl", "mixed.jsonl", "later.jsonl"] {
        for line in lines(name) {
            let record = StoredRecord::decode(&line).unwrap();
            let copy = serde_json::to_string(&record).unwrap();
            if outcome(&record) != Known {
                assert_eq!(content(&copy), content(&line), "{name}");
            }
            assert_eq!(StoredRecord::decode(&copy).unwrap(), record, "{name}");
        }
    }
}

#[test]
fn strict_mode_refuses_what_would_be_kept() {
    for name in [
        "v1.jsonl",
        "v2.jsonl",
        "v3.jsonl",
        "mixed.jsonl",
        "later.jsonl",
    ] {
        for line in lines(name) {
            let record = StoredRecord::decode(&line).unwrap();
            let strict = StoredRecord::decode_as(&line, Mode::Strict);
            match outcome(&record) {
                Opaque => match strict {
                    Err(DecodeError::Strict { tag, .. }) => assert_eq!(tag, record.event.tag()),
                    other => panic!("{line}: {other:?}"),
                },
                Known => assert_eq!(strict.unwrap(), record, "{line}"),
                Adapted(rules) if rules == [MissingReason] => {
                    let error = strict.unwrap_err().to_string();
                    assert!(error.contains("missing field `reason`"), "{error}");
                }
                Adapted(_) => {}
            }
        }
    }
}
