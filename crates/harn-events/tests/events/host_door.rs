//! The host door, type by type: what it takes, what it fills in, what it refuses
//! and with which words.

use crate::support::catalogue_direct_types::{Direct, direct_types};
use harn_events::catalogue::Catalogue;
use harn_events::{AgentEvent, EventBus, MutationSessionRecord};
use serde_json::{Value, json};

/// The event a payload becomes, as JSON, or the text of the refusal.
fn publish(event_type: &str, payload: &Value) -> Result<Value, String> {
    let event = EventBus::default()
        .host_event("s1", event_type, payload)
        .map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(event).expect("events are plain JSON"))
}

#[track_caller]
fn check(event_type: &str, payload: Value, expected: &[(&str, Value)]) {
    let event = publish(event_type, &payload).expect(event_type);
    for (key, value) in expected {
        assert_eq!(event.get(key), Some(value), "`{key}` of {event_type}");
    }
}

#[track_caller]
fn check_refused(event_type: &str, payload: Value, expected: &str) {
    assert_eq!(publish(event_type, &payload), Err(expected.to_owned()));
}

fn merged(objects: &[&Value]) -> Value {
    let keys = objects
        .iter()
        .flat_map(|one| one.as_object().expect("an object"));
    keys.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn without(object: &Value, key: &str) -> Value {
    let mut object = object.clone();
    object.as_object_mut().expect("an object").remove(key);
    object
}

#[test]
fn the_table_has_the_twenty_direct_types_of_the_catalogue() {
    let catalogue: Value =
        serde_json::from_str(include_str!("../../catalogue/events.json")).unwrap();
    let tags: Vec<&str> = direct_types().iter().map(|one| one.tag).collect();
    assert_eq!(json!(tags), catalogue["host"]["direct"]);
    assert_eq!(tags.len(), 20);
}

#[test]
fn a_direct_type_takes_its_required_keys_and_fills_in_the_rest() {
    for Direct {
        tag,
        required,
        defaults,
    } in direct_types()
    {
        let event = publish(tag, &required).expect(tag);
        let identity = json!({"type": tag, "session_id": "s1"});
        let expected = merged(&[&required, &defaults, &identity]);
        // What is not in the table is a nullable field, written as null.
        for (key, value) in event.as_object().unwrap() {
            let expected = expected.get(key).unwrap_or(&Value::Null);
            assert_eq!(value, expected, "`{key}` of {tag}");
        }
        for key in expected.as_object().unwrap().keys() {
            assert!(event.get(key).is_some(), "`{key}` of {tag}");
        }
    }
}

#[test]
fn each_required_key_is_missed_by_name() {
    for Direct { tag, required, .. } in direct_types() {
        for key in required.as_object().unwrap().keys() {
            let expected =
                format!("__host_agent_emit_event: invalid `{tag}` payload: missing field `{key}`");
            check_refused(tag, without(&required, key), &expected);
        }
    }
}

#[test]
fn a_payload_that_is_no_object_is_an_empty_one() {
    for odd in [
        Value::Null,
        json!([1]),
        json!("text"),
        json!(5),
        json!(true),
    ] {
        check_refused(
            "iteration_start",
            odd.clone(),
            "__host_agent_emit_event: invalid `iteration_start` payload: missing field `iteration`",
        );
        check(
            "progress_reported",
            odd,
            &[
                ("message", Value::Null),
                ("entries", json!([])),
                ("replace", json!(true)),
                ("metadata", json!({})),
            ],
        );
    }
}

#[test]
fn a_default_gives_way_to_what_the_caller_says() {
    let call = json!({"tool_call_id": "t", "tool_name": "n"});
    check(
        "tool_call",
        merged(&[
            &call,
            &json!({"status": "completed", "raw_input": {"a": 1}}),
        ]),
        &[
            ("status", json!("completed")),
            ("raw_input", json!({"a": 1})),
        ],
    );
    check(
        "tool_call_update",
        merged(&[&call, &json!({"status": "failed"})]),
        &[("status", json!("failed"))],
    );
    check(
        "iteration_end",
        json!({"iteration": 2, "iteration_info": {"text": "t"}}),
        &[("iteration_info", json!({"text": "t"}))],
    );
    check(
        "progress_reported",
        json!({"entries": [1], "replace": false, "metadata": 7, "message": "m"}),
        &[
            ("entries", json!([1])),
            ("replace", json!(false)),
            ("metadata", json!(7)),
            ("message", json!("m")),
        ],
    );
    check(
        "skill_narrow",
        json!({"reason": "r", "removed_tools": ["a"], "remaining_tools": ["b"]}),
        &[
            ("removed_tools", json!(["a"])),
            ("remaining_tools", json!(["b"])),
        ],
    );
    check(
        "tool_call_audit",
        merged(&[&call, &json!({"audit": {"summary": "s"}})]),
        &[("audit", json!({"summary": "s"}))],
    );
}

#[test]
fn an_explicit_null_is_not_replaced_by_a_default() {
    // Free-form values take it.
    for (event_type, key) in [
        ("progress_reported", "entries"),
        ("progress_reported", "metadata"),
    ] {
        check(event_type, json!({key: null}), &[(key, Value::Null)]);
    }
    // The others do not, and say so.
    for Direct {
        tag,
        required,
        defaults,
    } in direct_types()
    {
        for (key, default) in defaults.as_object().unwrap() {
            let is_free_form = default.is_null() || matches!(key.as_str(), "entries" | "metadata");
            if is_free_form {
                continue;
            }
            let error = publish(tag, &merged(&[&required, &json!({key: null})])).unwrap_err();
            let start =
                format!("__host_agent_emit_event: invalid `{tag}` payload: invalid type: null");
            assert!(error.starts_with(&start), "{error}");
        }
    }
}

#[test]
fn null_is_no_number_at_the_door() {
    let error = publish("iteration_start", &json!({"iteration": null})).unwrap_err();
    let start = "__host_agent_emit_event: invalid `iteration_start` payload: ";
    assert!(error.starts_with(start), "{error}");
}

#[test]
fn the_type_and_the_session_are_those_of_the_call() {
    for Direct { tag, required, .. } in direct_types() {
        let lies = json!({"type": "plan", "session_id": 9});
        let event = publish(tag, &merged(&[&required, &lies])).expect(tag);
        assert_eq!(
            (&event["type"], &event["session_id"]),
            (&json!(tag), &json!("s1"))
        );
    }
}

#[test]
fn keys_nobody_knows_are_ignored() {
    for Direct { tag, required, .. } in direct_types() {
        let plain = publish(tag, &required);
        for unknown in [
            json!({"zz_later": {"a": 1}}),
            // Names of the envelope mean nothing on the way in.
            json!({"index": "x", "emitted_at_ms": [], "frame_depth": -1, "execution_id": 7}),
        ] {
            assert_eq!(publish(tag, &merged(&[&required, &unknown])), plain);
        }
    }
}

#[test]
fn optional_fields_of_a_direct_type_are_taken_over() {
    check(
        "tool_call",
        json!({"tool_call_id": "t", "tool_name": "n", "kind": "edit", "parsing": true}),
        &[("kind", json!("edit")), ("parsing", json!(true))],
    );
    check(
        "budget_exhausted",
        json!({"max_iterations": 3, "kind": "wall_clock", "cost_usd": 0.5, "wall_clock_ms": 9}),
        &[
            ("kind", json!("wall_clock")),
            ("cost_usd", json!(0.5)),
            ("wall_clock_ms", json!(9)),
        ],
    );
    check(
        "loop_checkpoint",
        json!({"iteration": 1, "kind": "k", "delivered": 1, "inbox_delivered": 2, "dispatch_skipped": true}),
        &[
            ("inbox_delivered", json!(2)),
            ("dispatch_skipped", json!(true)),
        ],
    );
}

#[test]
fn the_audit_of_a_call_is_the_mutation_session_in_force() {
    let bus = EventBus::default();
    let claimed = json!({
        "tool_call_id": "t", "tool_name": "n",
        "audit": {"session_id": "claimed", "mutation_scope": "everything"},
    });
    let audit_of = |event_type: &str, payload: &Value| match bus
        .host_event("s1", event_type, payload)
        .unwrap()
    {
        AgentEvent::ToolCall { audit, .. } | AgentEvent::ToolCallUpdate { audit, .. } => audit,
        other => panic!("{other:?}"),
    };
    let in_force = MutationSessionRecord {
        session_id: "m1".into(),
        mutation_scope: "apply_workspace".into(),
        ..MutationSessionRecord::default()
    };
    // A claim that would not even decode is discarded before decoding.
    let nonsense = json!({"tool_call_id": "t", "tool_name": "n", "audit": 5});
    for event_type in ["tool_call", "tool_call_update"] {
        assert_eq!(audit_of(event_type, &claimed), None);
        assert_eq!(audit_of(event_type, &nonsense), None);
        let guard = bus.enter_mutation_session(in_force.clone());
        assert_eq!(audit_of(event_type, &claimed), Some(in_force.clone()));
        assert_eq!(audit_of(event_type, &nonsense), Some(in_force.clone()));
        drop(guard);
        assert_eq!(audit_of(event_type, &claimed), None);
    }
}

#[test]
fn an_executor_may_be_named_by_a_word() {
    let update = |executor: Value| {
        publish(
            "tool_call_update",
            &json!({"tool_call_id": "t", "tool_name": "n", "executor": executor}),
        )
    };
    for (word, kind) in [
        ("harn", "harn_builtin"),
        ("harn_builtin", "harn_builtin"),
        ("host", "host_bridge"),
        ("host_bridge", "host_bridge"),
        ("provider", "provider_native"),
        ("provider_native", "provider_native"),
        (" \t harn \n", "harn_builtin"),
    ] {
        assert_eq!(
            update(json!(word)).unwrap()["executor"],
            json!({"kind": kind})
        );
    }
    for blank in ["", " ", "\t\n"] {
        assert_eq!(update(json!(blank)).unwrap().get("executor"), None);
    }
    assert_eq!(update(Value::Null).unwrap().get("executor"), None);
    let server = json!({"kind": "mcp_server", "server_name": "linear"});
    assert_eq!(update(server.clone()).unwrap()["executor"], server);
    for (word, trimmed) in [
        ("mcp_server", "mcp_server"),
        (" Harn ", "Harn"),
        ("harn builtin", "harn builtin"),
        ("\tmcp\n", "mcp"),
    ] {
        let expected = format!("__host_agent_emit_event: invalid tool executor `{trimmed}`");
        assert_eq!(update(json!(word)), Err(expected));
    }
    for odd in [
        json!(5),
        json!({"kind": "mcp_server"}),
        json!({"kind": "zz"}),
    ] {
        let error = update(odd).unwrap_err();
        let start = "__host_agent_emit_event: invalid `tool_call_update` payload: ";
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn an_executor_word_is_for_updates_only() {
    let call = json!({"tool_call_id": "t", "tool_name": "n", "executor": "nonsense"});
    assert!(publish("tool_call", &call).is_ok());
}

#[test]
fn everything_else_is_refused_by_name() {
    let catalogue = Catalogue::builtin();
    let offered = |tag: &str| {
        let mut types = catalogue
            .variants
            .iter()
            .flat_map(|event| &event.host_types);
        types.any(|name| name == tag)
    };
    let tags = catalogue.variants.iter().map(|event| event.tag.as_str());
    let refused: Vec<&str> = tags
        .filter(|tag| !offered(tag))
        .chain([
            "turn_start",
            "turn_end",
            "zz_invented",
            "Tool_Call",
            "tool_call ",
        ])
        .chain(catalogue.reserved_tags.iter().map(String::as_str))
        .collect();
    for named in [
        "worker_update",
        "handoff",
        "artifact",
        "plan",
        "loop_stuck_signal",
    ] {
        assert!(refused.contains(&named));
    }
    for tag in refused {
        let expected = format!("__host_agent_emit_event: unsupported event type `{tag}`");
        check_refused(tag, json!({"plan": 1, "reason": "r"}), &expected);
    }
}

#[test]
fn a_session_and_a_type_must_be_named() {
    let bus = EventBus::default();
    let refusal = |session: &str, event_type: &str| {
        let event = bus.host_event(session, event_type, &json!({"iteration": 1}));
        event.unwrap_err().to_string()
    };
    assert_eq!(
        refusal("", "iteration_start"),
        "__host_agent_emit_event: session_id must be a non-empty string"
    );
    assert_eq!(
        refusal("s1", ""),
        "__host_agent_emit_event: event_type must be a non-empty string"
    );
}

#[test]
fn the_typed_door_says_the_same_as_the_bus() {
    let payload = json!({"iteration": 4, "model": "m"});
    let event = AgentEvent::from_host_payload("s1", "iteration_start", &payload).unwrap();
    let by_bus = EventBus::default().host_event("s1", "iteration_start", &payload);
    assert_eq!(Ok(event), by_bus);
    let error = AgentEvent::from_host_payload("s1", "plan", &payload).unwrap_err();
    assert_eq!(
        error.to_string(),
        "__host_agent_emit_event: unsupported event type `plan`"
    );
}
