//! What hosts get wrong is counted by session and type, and logged once.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use harn_events::{CloseSession, EventBus, HostIssue, HostIssueKind};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the fields of every log line as text.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct LineText(String);

impl Visit for LineText {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = LineText(event.metadata().level().to_string());
        event.record(&mut line);
        let mut lines = self.0.lock().expect("no reader panics");
        lines.push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Publishes the payloads and compares the account afterwards. Every mistake
/// that has an entry of its own has one log line.
#[track_caller]
fn check(published: &[(&str, &str, Value)], expected: &[(&str, &str, HostIssueKind, u64)]) {
    let bus = EventBus::default();
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        for (session_id, event_type, payload) in published {
            // The account is the point here, so refusals are fine.
            let _ = bus.host_event(session_id, event_type, payload);
        }
    });
    let issue = |(session, event_type, kind, count): &(&str, &str, HostIssueKind, u64)| HostIssue {
        session_id: (*session).to_owned(),
        event_type: (*event_type).to_owned(),
        kind: *kind,
        count: *count,
    };
    let expected: Vec<HostIssue> = expected.iter().map(issue).collect();
    let mut found = bus.health().host_issues;
    found.sort_by_key(|issue| expected.iter().position(|one| one == issue));
    assert_eq!(found, expected);
    let lines = lines.0.lock().expect("no reader panics");
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for issue in &expected {
        let about =
            |line: &&String| line.contains(&issue.session_id) && line.contains(&issue.event_type);
        assert!(lines.iter().any(|line| about(&line)), "{lines:?}");
    }
}

#[test]
fn a_typo_in_a_key_is_counted_and_logged_once() {
    let payload = json!({"iteration": 1, "modle": "m"});
    check(
        &[
            ("s1", "iteration_start", payload.clone()),
            ("s1", "iteration_start", payload.clone()),
            ("s1", "iteration_start", payload),
        ],
        &[("s1", "iteration_start", HostIssueKind::UnknownKeys, 3)],
    );
}

#[test]
fn a_name_of_the_envelope_is_a_key_nobody_knows() {
    check(
        &[("s1", "iteration_start", json!({"iteration": 1, "index": 3}))],
        &[("s1", "iteration_start", HostIssueKind::UnknownKeys, 1)],
    );
}

#[test]
fn a_key_that_a_special_type_drops_is_counted() {
    for (event_type, payload) in [
        (
            "stance_armed",
            json!({"escape_tool": "t", "jutsification": "j"}),
        ),
        (
            "completion_confirmation_nudge",
            json!({"visible_text": "t"}),
        ),
        (
            "no_progress_streak_nudge",
            json!({"turns_since_progres": 1}),
        ),
        (
            "llm_auto_continue",
            json!({"attempt": 1, "max_continuation": 2}),
        ),
    ] {
        check(
            &[("s1", event_type, payload)],
            &[("s1", event_type, HostIssueKind::UnknownKeys, 1)],
        );
    }
}

#[test]
fn a_payload_that_is_no_object_is_counted_where_it_is_lost() {
    check(
        &[
            ("s1", "progress_reported", json!([1])),
            ("s1", "progress_reported", json!("text")),
            ("s1", "stance_armed", json!(5)),
        ],
        &[
            ("s1", "progress_reported", HostIssueKind::NotAnObject, 2),
            ("s1", "stance_armed", HostIssueKind::NotAnObject, 1),
        ],
    );
}

#[test]
fn what_is_refused_is_counted_by_session_and_type() {
    check(
        &[
            ("s1", "plan", json!({"plan": 1})),
            ("s1", "plan", json!({"plan": 1})),
            ("s2", "plan", json!({"plan": 1})),
            ("s1", "iteration_start", json!({})),
            ("s1", "tool_call_update", json!({"executor": "mcp_server"})),
        ],
        &[
            ("s1", "plan", HostIssueKind::Refused, 2),
            ("s2", "plan", HostIssueKind::Refused, 1),
            ("s1", "iteration_start", HostIssueKind::Refused, 1),
            ("s1", "tool_call_update", HostIssueKind::Refused, 1),
        ],
    );
}

#[test]
fn a_correct_payload_leaves_no_trace() {
    check(
        &[
            (
                "s1",
                "iteration_start",
                json!({"iteration": 1, "model": "m"}),
            ),
            ("s1", "progress_reported", Value::Null),
            (
                "s1",
                "tool_call",
                json!({"tool_call_id": "t", "tool_name": "n", "audit": {}}),
            ),
            (
                "s1",
                "iteration_end",
                json!({"iteration": 1, "type": "x", "session_id": "y"}),
            ),
            (
                "s1",
                "stance_disarmed",
                json!({"escape_tool": "t", "allowed_tools": []}),
            ),
            ("s1", "fenced_call_attempt_nudge", json!({"fence": "f"})),
            // These keep the payload whole, so nothing of it can be unknown.
            ("s1", "typed_checkpoint", json!({"anything": 1})),
            ("s1", "typed_checkpoint", json!([1])),
            ("s1", "cache_hit", json!({"key": "k", "metrics": {}})),
            ("s1", "agent_scratchpad_reorganization", json!({"moved": 2})),
        ],
        &[],
    );
}

#[test]
fn the_account_of_a_session_ends_with_it() {
    let bus = EventBus::default();
    bus.open_session("s1").unwrap();
    let typo = json!({"iteration": 1, "modle": "m"});
    for session_id in ["s1", "s2"] {
        bus.host_event(session_id, "iteration_start", &typo)
            .unwrap();
    }
    assert_eq!(bus.health().host_issues.len(), 2);
    bus.close_session("s1", CloseSession::because("done"));
    let left = bus.health().host_issues;
    let sessions: Vec<&str> = left.iter().map(|issue| issue.session_id.as_str()).collect();
    assert_eq!(sessions, ["s2"]);
}
