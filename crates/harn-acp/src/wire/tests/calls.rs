//! The rules for tool calls.

use serde_json::{Value, json};

use super::*;

fn start(input: Value) -> Value {
    json!({
        "type": "tool_call", "tool_call_id": "a", "tool_name": "edit", "kind": "edit",
        "status": "pending", "raw_input": input,
    })
}

fn update(fields: Value) -> Value {
    let mut update = json!({
        "type": "tool_call_update", "tool_call_id": "a", "tool_name": "edit",
        "status": "pending", "raw_output": null, "error": null,
    });
    for (key, value) in fields.as_object().unwrap() {
        update[key] = value.clone();
    }
    update
}

fn completed(output: Value) -> Value {
    update(json!({"status": "completed", "raw_output": output}))
}

fn tell_plain(events: &[Value]) -> Vec<Value> {
    updates(&tell(&plain(), events))
}

#[test]
fn a_start_says_everything_about_the_call() {
    check_update(
        &plain(),
        json!({
            "type": "tool_call", "tool_call_id": "a", "tool_name": "read", "kind": "read",
            "status": "in_progress", "raw_input": {"path": "src/a.rs", "offset": 12},
        }),
        json!([{
            "sessionUpdate": "tool_call", "toolCallId": "a", "title": "read", "name": "read",
            "kind": "read", "status": "in_progress",
            "locations": [{"path": "/folder/src/a.rs", "line": 12}],
            "rawInput": {"path": "src/a.rs", "offset": 12},
            "_meta": {"harn": {"index": 0}},
        }]),
    );
}

#[test]
fn kinds_are_those_of_the_annotation() {
    let rows = [
        ("read", "read"),
        ("edit", "edit"),
        ("delete", "delete"),
        ("move", "move"),
        ("search", "search"),
        ("execute", "execute"),
        ("think", "think"),
        ("fetch", "fetch"),
        ("other", "other"),
    ];
    for (kind, expected) in rows {
        let mut start = start(json!({}));
        start["kind"] = json!(kind);
        assert_eq!(tell_plain(&[start])[0]["kind"], expected);
    }
    let mut unannotated = start(json!({}));
    unannotated["kind"] = Value::Null;
    let told = tell_plain(&[unannotated]);
    assert_eq!(
        (&told[0]["kind"], &told[0]["status"]),
        (&json!("other"), &json!("pending"))
    );
}

#[test]
fn an_update_holds_only_what_has_changed() {
    let told = tell_plain(&[
        start(json!({"path": "f"})),
        update(json!({"status": "in_progress", "executor": {"kind": "harn_builtin"}})),
        update(json!({
            "status": "completed", "raw_output": {"text": "done", "tool_use_id": "x"},
            "duration_ms": 12, "execution_duration_ms": 7,
            "executor": {"kind": "mcp_server", "server_name": "files"},
        })),
    ]);
    assert_eq!(
        told[1],
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "in_progress",
            "_meta": {"harn": {"executor": "harn_builtin", "index": 1}},
        })
    );
    assert_eq!(
        told[2],
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "completed",
            "rawOutput": {"text": "done", "tool_use_id": "x"},
            "content": [{"type": "content", "content": {"type": "text", "text": "done"}}],
            "_meta": {"harn": {
                "executor": {"kind": "mcp_server", "serverName": "files"},
                "durationMs": 12, "executionDurationMs": 7, "index": 2,
            }},
        })
    );
}

#[test]
fn a_failure_says_why() {
    let told = tell_plain(&[
        start(json!({})),
        update(json!({
            "status": "failed", "error": "no such file", "error_category": "tool_error",
            "executor": {"kind": "host_bridge"},
        })),
    ]);
    assert_eq!(told[1]["status"], "failed");
    assert_eq!(
        told[1]["content"],
        json!([{"type": "content", "content": {"type": "text", "text": "no such file"}}])
    );
    assert_eq!(
        told[1]["_meta"]["harn"],
        json!({
            "executor": "host_bridge", "error": "no such file",
            "errorCategory": "tool_error", "index": 1,
        })
    );
}

#[test]
fn the_mutation_session_is_told() {
    let mut start = start(json!({}));
    start["audit"] = json!({"session_id": "m1"});
    let told = tell_plain(&[start]);
    assert_eq!(told[0]["_meta"]["harn"]["audit"]["session_id"], "m1");
}

#[test]
fn a_status_never_goes_back() {
    let told = tell_plain(&[
        start(json!({})),
        update(json!({"status": "in_progress"})),
        update(json!({"status": "pending", "raw_input": {"path": "late"}})),
        completed(json!({"text": "x"})),
        update(json!({"status": "in_progress"})),
        update(json!({"status": "failed", "error": "late"})),
    ]);
    let statuses: Vec<_> = told.iter().map(|update| update["status"].clone()).collect();
    assert_eq!(
        json!(statuses),
        json!(["pending", "in_progress", null, "completed"])
    );
    assert_eq!(told[2]["rawInput"], json!({"path": "late"}));
}

#[test]
fn an_update_of_a_call_that_never_began_is_not_told() {
    assert_eq!(
        tell_plain(&[completed(json!({"text": "x"}))]),
        Vec::<Value>::new()
    );
}

/// Models number their calls from the start in every answer.
#[test]
fn an_id_that_was_used_before_is_another_one_on_the_wire() {
    let named = |id: &str, mut event: Value| {
        event["tool_call_id"] = json!(id);
        event
    };
    let mut events = Vec::new();
    for id in ["a", "a", "a-2", "a"] {
        events.push(named(id, start(json!({}))));
        events.push(named(id, completed(json!({"text": "x"}))));
    }
    let told = tell_plain(&events);
    let ids: Vec<_> = told
        .iter()
        .map(|update| update["toolCallId"].clone())
        .collect();
    assert_eq!(
        json!(ids),
        json!(["a", "a", "a-2", "a-2", "a-2-2", "a-2-2", "a-3", "a-3"])
    );
}

/// A process that was killed has not ended its calls.
#[test]
fn what_is_open_in_a_session_that_nobody_works_in_is_ended_once() {
    let mut mapping = mapping();
    mapping.of(&seen(3, start(json!({}))), &plain());
    let settled = updates(&mapping.settle(true));
    assert_eq!(settled.len(), 1);
    assert_eq!(
        (&settled[0]["toolCallId"], &settled[0]["status"]),
        (&json!("a"), &json!("failed"))
    );
    let harn = &settled[0]["_meta"]["harn"];
    assert_eq!(
        (&harn["index"], &harn["replayed"], &harn["errorCategory"]),
        (&json!(3), &json!(true), &json!("abandoned_at_loop_exit"))
    );
    assert!(mapping.settle(true).is_empty());
    let late = update(json!({"status": "failed", "error": "closed later"}));
    assert!(mapping.of(&seen(4, late), &plain()).is_empty());
}

#[test]
fn calls_of_a_run_that_somebody_stopped_were_cancelled() {
    let cancel = json!({
        "type": "control_outcome", "control_id": "c", "method": "session/cancel",
        "outcome": "accepted", "status": "cancelled", "actor": null, "target": null,
    });
    let abandoned = update(json!({
        "status": "failed", "error": "still open", "error_category": "abandoned_at_loop_exit",
    }));
    let category = |events: &[Value]| {
        let quiet = client(json!({"_meta": {"harn": {"agentEvents": false}}}));
        let told = updates(&tell(&quiet, events));
        told.last().unwrap()["_meta"]["harn"]["errorCategory"].clone()
    };
    assert_eq!(
        category(&[start(json!({})), abandoned.clone()]),
        "abandoned_at_loop_exit"
    );
    assert_eq!(
        category(&[start(json!({})), cancel.clone(), abandoned.clone()]),
        "cancelled"
    );
    let exit =
        json!({"type": "loop_checkpoint", "iteration": 1, "kind": "loop_exit", "delivered": 0});
    let later = [cancel, exit, start(json!({})), abandoned];
    assert_eq!(
        category(&later),
        "abandoned_at_loop_exit",
        "the next run is another"
    );
}

/// What is told of a call whose arguments arrive at these times.
fn arriving(pieces: &[(i64, Value)]) -> Vec<(Value, Value)> {
    let mut mapping = mapping();
    mapping.of(&seen(0, start(json!({}))), &plain());
    let told = pieces.iter().flat_map(|(ms, fields)| {
        let mut piece = seen(1, update(fields.clone()));
        piece.emitted_at_ms = *ms;
        piece.is_kept = false;
        mapping.of(&piece, &plain())
    });
    let told: Vec<Outgoing> = told.collect();
    let told = updates(&told).into_iter();
    told.map(|one| {
        (
            one["rawInput"].clone(),
            one["_meta"]["harn"]["rawInputPartial"].clone(),
        )
    })
    .collect()
}

#[test]
fn arriving_arguments_are_sent_every_50_ms_at_most() {
    let input = |text: &str| json!({"raw_input": {"path": text}});
    let told = arriving(&[
        (0, json!({"raw_input_partial": "{\"pa"})),
        (49, json!({"raw_input_partial": "{\"path"})),
        (50, input("s")),
        (99, input("sr")),
        (100, input("src")),
        (120, input("src/")),
        (149, input("src/a")),
        (300, input("src/a.rs")),
    ]);
    let expected = [
        (Value::Null, json!("{\"pa")),
        (json!({"path": "s"}), Value::Null),
        (json!({"path": "src"}), Value::Null),
        (json!({"path": "src/a.rs"}), Value::Null),
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_last_arguments_are_told_when_the_call_runs() {
    let told = arriving(&[
        (0, json!({"raw_input": {"path": "s"}})),
        (10, json!({"raw_input": {"path": "src"}})),
        (20, json!({"status": "in_progress"})),
    ]);
    let inputs: Vec<_> = told.into_iter().map(|(input, _)| input).collect();
    assert_eq!(inputs, [json!({"path": "s"}), json!({"path": "src"})]);
}

#[test]
fn locations_follow_the_arguments() {
    let told = tell_plain(&[
        start(json!({})),
        update(json!({"raw_input": {"path": "f"}})),
    ]);
    assert_eq!(told[0].get("locations"), None);
    assert_eq!(told[1]["locations"], json!([{"path": "/folder/f"}]));
}

fn candidate(parsing: bool, fields: Value) -> Value {
    let mut candidate = match parsing {
        true => start(json!({})),
        false => update(fields),
    };
    candidate["tool_call_id"] = json!("text-cand-1");
    candidate["parsing"] = json!(parsing);
    candidate
}

#[test]
fn candidates_are_told_to_those_only_who_asked() {
    let events = [
        candidate(true, json!({})),
        candidate(false, json!({"raw_input": {"path": "f"}})),
        start(json!({"path": "f"})),
    ];
    let told = tell_plain(&events);
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0]["toolCallId"], "a",
        "a promoted call has an id of its own"
    );
    let told = updates(&tell(&extended(), &events));
    let shown: Vec<_> = told
        .iter()
        .map(|one| (one["toolCallId"].clone(), one["status"].clone()))
        .collect();
    assert_eq!(
        json!(shown),
        json!([
            ["text-cand-1", "pending"],
            ["text-cand-1", "completed"],
            ["a", "pending"]
        ])
    );
    let parsing: Vec<_> = told
        .iter()
        .map(|one| one["_meta"]["harn"]["parsing"].clone())
        .collect();
    assert_eq!(json!(parsing), json!([true, false, null]));
}

/// Editors cut texts themselves, so the last line, which says why, reaches them with the first.
#[test]
fn a_failure_is_told_whole() {
    let error = "the command was stopped\nmuch\nerror: no such crate";
    let failed = update(json!({"status": "failed", "error": error}));
    let told = tell_plain(&[start(json!({})), failed]);
    assert_eq!(told[1]["content"][0]["content"]["text"], error);
}

#[test]
fn a_candidate_that_was_none_has_failed() {
    let aborted =
        json!({"status": "failed", "error": "no call", "error_category": "parse_aborted"});
    let events = [candidate(true, json!({})), candidate(false, aborted)];
    assert_eq!(tell_plain(&events), Vec::<Value>::new());
    let told = updates(&tell(&extended(), &events));
    assert_eq!(told[1]["status"], "failed");
}

#[test]
fn an_edit_is_a_diff_with_an_absolute_path() {
    let input = json!({"path": "src/a.rs", "old_text": "one", "new_text": "two"});
    let told = tell_plain(&[start(input), completed(json!({"text": "edited"}))]);
    assert_eq!(
        told[1]["content"],
        json!([{"type": "diff", "path": "/folder/src/a.rs", "oldText": "one", "newText": "two"}])
    );
}

#[test]
fn an_edit_that_failed_is_no_diff() {
    let input = json!({"path": "a", "old_text": "one", "new_text": "two"});
    let failed = update(json!({"status": "failed", "error": "not found"}));
    let told = tell_plain(&[start(input), failed]);
    assert_eq!(told[1]["content"][0]["content"]["text"], "not found");
}

#[test]
fn what_a_tool_shows_takes_the_place_of_its_text() {
    let shown = json!([
        {"type": "edit", "path": "/folder/new", "new_text": "two"},
        {"type": "edit", "path": "/folder/old", "old_text": "one", "new_text": "two"},
        {"type": "terminal", "terminal_id": "t1"},
    ]);
    let output = json!({"text": "done", "shown": shown});
    let told = tell_plain(&[start(json!({})), completed(output)]);
    assert_eq!(
        told[1]["content"],
        json!([
            {"type": "diff", "path": "/folder/new", "newText": "two"},
            {"type": "diff", "path": "/folder/old", "oldText": "one", "newText": "two"},
            {"type": "terminal", "terminalId": "t1"},
        ])
    );
    assert_eq!(
        told[1]["rawOutput"],
        json!({"text": "done"}),
        "it is not told twice"
    );
}

#[test]
fn content_of_tool_servers_passes_as_it_is() {
    let image =
        json!({"type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": {"k": 1}});
    let strange = json!({"type": "hologram", "data": "x"});
    let shown = json!([{"type": "block", "block": image}, {"type": "block", "block": strange}]);
    let output = json!({"text": "t", "shown": shown});
    let told = tell_plain(&[start(json!({})), completed(output)]);
    assert_eq!(
        told[1]["content"][0],
        json!({"type": "content", "content": image})
    );
    assert_eq!(
        told[1]["content"][1]["content"],
        json!({"type": "text", "text": strange.to_string()}),
        "what no editor knows is told in words"
    );
}

#[test]
fn a_terminal_that_has_gone_is_not_replayed_but_what_it_said() {
    let shown = json!([{"type": "terminal", "terminal_id": "t1"}]);
    let mut mapping = mapping();
    mapping.of(&seen(0, start(json!({}))), &plain());
    let mut end = seen(1, completed(json!({"text": "said", "shown": shown})));
    end.is_replayed = true;
    let told = updates(&mapping.of(&end, &plain()));
    assert_eq!(
        told[0]["content"],
        json!([{"type": "content", "content": {"type": "text", "text": "said"}}])
    );
}

#[test]
fn paths_are_known_by_the_names_of_their_arguments() {
    let mut call = start(json!({
        "from_path": "a/../b.md", "targetFile": "/c", "paths": ["d", "./e"], "profile": "f",
        "content": "g",
    }));
    let told = tell_plain(std::slice::from_ref(&call));
    assert_eq!(
        told[0]["locations"],
        json!([
            {"path": "/folder/b.md"}, {"path": "/c"}, {"path": "/folder/d"}, {"path": "/folder/e"},
        ])
    );
    call["kind"] = json!("fetch");
    assert_eq!(tell_plain(&[call])[0].get("locations"), None);
}
