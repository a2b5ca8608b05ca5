//! The nineteen types of the host door that are built by a rule of their own.
//! They never fail, whatever the payload is.

use harn_events::EventBus;
use serde_json::{Value, json};

/// Payloads of every shape but the right one.
fn odd_payloads() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-3),
        json!(2.5),
        json!("text"),
        json!([]),
        json!(["key", {"status": "x"}]),
        json!({}),
    ]
}

fn publish(event_type: &str, payload: &Value) -> Value {
    let event = EventBus::default().host_event("s1", event_type, payload);
    serde_json::to_value(event.expect(event_type)).expect("events are plain JSON")
}

/// The whole event must be `expected`, whose session is filled in.
#[track_caller]
fn check(event_type: &str, payload: Value, mut expected: Value) {
    expected["session_id"] = json!("s1");
    assert_eq!(publish(event_type, &payload), expected, "{event_type}");
}

#[test]
fn the_catalogue_lists_the_same_nineteen() {
    let catalogue: Value =
        serde_json::from_str(include_str!("../../catalogue/events.json")).unwrap();
    let special = catalogue["host"]["special"].as_array().unwrap();
    assert_eq!(special.len(), 19);
    for event_type in special.iter().map(|one| one.as_str().unwrap()) {
        for payload in odd_payloads() {
            let event = publish(event_type, &payload);
            assert_eq!(event["session_id"], json!("s1"));
        }
    }
}

#[test]
fn some_keep_the_payload_as_it_is() {
    let mut payloads = odd_payloads();
    payloads.push(json!({"type": "x", "session_id": 4, "kind": {"deep": [1]}}));
    for payload in payloads {
        for (event_type, tag, key) in [
            ("typed_checkpoint", "typed_checkpoint", "checkpoint"),
            ("loop_stuck", "loop_stuck_signal", "payload"),
            (
                "reserved_terminal_verify",
                "reserved_terminal_verify",
                "payload",
            ),
            (
                "agent_loop_stall_warning",
                "agent_loop_stall_warning",
                "warning",
            ),
        ] {
            check(
                event_type,
                payload.clone(),
                json!({"type": tag, key: payload}),
            );
        }
    }
}

#[test]
fn cache_events_name_what_they_found_and_keep_the_payload() {
    let full = json!({
        "key": "k", "backend": "b", "namespace": "n", "metrics": {"tokens_saved": 3},
    });
    for event_type in ["cache_hit", "cache_miss"] {
        check(
            event_type,
            full.clone(),
            json!({
                "type": event_type, "key": "k", "backend": "b", "namespace": "n", "payload": full,
            }),
        );
        let mut odd = odd_payloads();
        odd.push(json!({"key": 1, "backend": null, "namespace": ["n"]}));
        for payload in odd {
            check(
                event_type,
                payload.clone(),
                json!({
                    "type": event_type, "key": "", "backend": "", "namespace": "",
                    "payload": payload,
                }),
            );
        }
    }
}

#[test]
fn a_scratchpad_event_takes_two_keys_out_of_its_details() {
    let scratchpad = |iteration: u64, status: &str, details: Value| {
        json!({
            "type": "agent_scratchpad_reorganization",
            "iteration": iteration, "status": status, "details": details,
        })
    };
    let event_type = "agent_scratchpad_reorganization";
    check(
        event_type,
        json!({"iteration": 4, "status": "reorganized", "moved": 2}),
        scratchpad(4, "reorganized", json!({"moved": 2})),
    );
    // Keys of the wrong type are read as nothing, and leave the details all the same.
    check(
        event_type,
        json!({"iteration": "4", "status": 5, "moved": 2}),
        scratchpad(0, "", json!({"moved": 2})),
    );
    for payload in odd_payloads() {
        check(event_type, payload.clone(), scratchpad(0, "", payload));
    }
}

#[test]
fn a_stance_is_named_by_the_type_without_its_prefix() {
    for (event_type, phase) in [
        ("stance_armed", "armed"),
        ("stance_write_access_granted", "write_access_granted"),
        ("stance_write_access_denied", "write_access_denied"),
        ("stance_disarmed", "disarmed"),
    ] {
        check(
            event_type,
            json!({
                "escape_tool": "request_write", "allowed_tools": ["read", 5, null, "grep", ["x"]],
                "justification": "j", "consent": "c", "reason": "r", "phase": "ignored",
            }),
            json!({
                "type": "stance_transition", "phase": phase, "escape_tool": "request_write",
                "allowed_tools": ["read", "grep"],
                "justification": "j", "consent": "c", "reason": "r",
            }),
        );
        let mut odd = odd_payloads();
        odd.push(json!({"escape_tool": 1, "allowed_tools": "read", "consent": true}));
        for payload in odd {
            check(
                event_type,
                payload,
                json!({"type": "stance_transition", "phase": phase, "escape_tool": ""}),
            );
        }
    }
}

/// The content of the feedback a nudge becomes; its kind is the type's name.
#[track_caller]
fn check_nudge(event_type: &str, payload: Value, content: &str) {
    check(
        event_type,
        payload,
        json!({"type": "feedback_injected", "kind": event_type, "content": content}),
    );
}

#[test]
fn nudges_that_quote_a_text() {
    for (event_type, key) in [
        ("completion_confirmation_nudge", "visible_text_prefix"),
        ("fenced_call_attempt_nudge", "fence"),
        ("missing_tool_call_nudge", "tool"),
        ("tool_parse_error_feedback", "error_summary"),
    ] {
        check_nudge(
            event_type,
            json!({key: "ünter \"quotes\""}),
            "ünter \"quotes\"",
        );
        for odd in [
            json!(5),
            Value::Null,
            json!(["x"]),
            json!({"a": 1}),
            json!(true),
        ] {
            check_nudge(event_type, json!({key: odd}), "");
        }
        for payload in odd_payloads() {
            check_nudge(event_type, payload, "");
        }
    }
}

/// What a count reads from values that are not quite counts.
fn counts() -> Vec<(Value, &'static str)> {
    vec![
        (json!(0), "0"),
        (json!(7), "7"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(-1), "0"),
        (json!(i64::MIN), "0"),
        (json!(1.5), "0"),
        (json!(1e300), "0"),
        (json!("7"), "0"),
        (json!(true), "0"),
        (json!([7]), "0"),
        (json!({"n": 7}), "0"),
        (Value::Null, "0"),
    ]
}

#[test]
fn nudges_that_count() {
    for (event_type, key) in [
        ("no_progress_streak_nudge", "turns_since_progress"),
        ("tool_call_blank_name_dropped", "dropped_count"),
    ] {
        for (number, content) in counts() {
            check_nudge(event_type, json!({key: number}), content);
        }
        for payload in odd_payloads() {
            check_nudge(event_type, payload, "0");
        }
    }
}

#[test]
fn nudges_that_put_counts_into_words() {
    check_nudge(
        "llm_auto_continue",
        json!({
            "previous_max_tokens": 100, "raised_max_tokens": 200, "attempt": 1,
            "max_continuations": 3,
        }),
        "100->200 (attempt 1/3)",
    );
    check_nudge(
        "context_overflow_recovery",
        json!({"attempt": 2, "max_recoveries": 4, "archived_messages": 17}),
        "attempt 2/4 archived 17 messages",
    );
    for (number, content) in counts() {
        check_nudge(
            "llm_auto_continue",
            json!({"raised_max_tokens": number}),
            &format!("0->{content} (attempt 0/0)"),
        );
        check_nudge(
            "context_overflow_recovery",
            json!({"archived_messages": number}),
            &format!("attempt 0/0 archived {content} messages"),
        );
    }
    for payload in odd_payloads() {
        check_nudge("llm_auto_continue", payload.clone(), "0->0 (attempt 0/0)");
        check_nudge(
            "context_overflow_recovery",
            payload,
            "attempt 0/0 archived 0 messages",
        );
    }
}

#[test]
fn a_special_type_is_preferred_to_an_event_of_the_same_name() {
    // `loop_stuck` is also an event of its own, which hosts cannot emit.
    check(
        "loop_stuck",
        json!({"max_nudges": 3}),
        json!({"type": "loop_stuck_signal", "payload": {"max_nudges": 3}}),
    );
}
