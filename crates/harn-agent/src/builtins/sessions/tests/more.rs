//! The pad, the format of calls, the inbox, seeds, receipts and calls that stop.

use serde_json::{Value, json};

use super::{said, snapshot};
use crate::runtime::RuntimeOptions;
use crate::session::kept;
use crate::testing::Program;

#[test]
fn a_pad_has_versions() {
    let program = said("s", &[]);
    let pad = || program.get("agent_session_scratchpad", json!(["s"]));
    assert_eq!(pad(), Value::Null);
    let set = |arguments: Value| program.get("agent_session_set_scratchpad", arguments);
    let first = set(json!(["s", {"goals": ["ship"]}]));
    let expected = json!({
        "schema": "harn.agent_scratchpad.v1", "goals": ["ship"], "open_items": [],
        "facts": [], "refs": [],
    });
    assert_eq!(
        first,
        json!({"ok": true, "version": 1, "scratchpad": expected})
    );
    assert_eq!(pad(), expected);
    let late = set(json!(["s", {"goals": ["rest"]}, {"expected_version": 0}]));
    assert_eq!((&late["ok"], &late["version"]), (&json!(false), &json!(1)));
    assert_eq!(late["error"], "the scratchpad has version 1, not 0");
    let second = set(json!(["s", {"goals": ["rest"]}, {"expected_version": 1}]));
    assert_eq!(
        (&second["ok"], &second["version"]),
        (&json!(true), &json!(2))
    );
    let cleared = program.get("agent_session_clear_scratchpad", json!(["s"]));
    assert_eq!(
        cleared,
        json!({"ok": true, "version": 3, "scratchpad": null})
    );
    assert_eq!(pad(), Value::Null);
    let builtin = "agent_session_set_scratchpad";
    let rows = [
        (json!(["s", 3]), "`scratchpad` must be a dict"),
        (json!(["s", {"goals": 3}]), "`goals` must be a list"),
        (
            json!(["s", {}, {"expected_version": "1"}]),
            "`expected_version` must be an int",
        ),
    ];
    for (arguments, complaint) in rows {
        assert_eq!(
            program.refusal(builtin, arguments),
            format!("{builtin}: {complaint}")
        );
    }
}

#[test]
fn a_session_has_one_tool_format() {
    let program = said("s", &[]);
    let format = || program.get("agent_session_tool_format", json!(["s"]));
    let builtin = "agent_session_claim_tool_format";
    assert_eq!(format(), Value::Null);
    assert_eq!(program.get(builtin, json!(["s", "text"])), "text");
    assert_eq!(program.get(builtin, json!(["s", "text"])), "text");
    assert_eq!(
        program.refusal(builtin, json!(["s", "native"])),
        format!("{builtin}: session 's' uses tool format 'text' and cannot change to 'native'")
    );
    assert_eq!(
        program.refusal(builtin, json!(["s", "yaml"])),
        format!("{builtin}: unknown tool format 'yaml' (expected 'text', 'native', or 'json')")
    );
    assert_eq!(format(), "text");
}

#[test]
fn a_session_remembers_its_prompt() {
    let program = said("s", &[]);
    let prompt = || program.get("agent_session_system_prompt", json!(["s"]));
    assert_eq!(prompt(), Value::Null);
    let session = program.runtime.session("s").unwrap();
    session.keep(kept::SYSTEM_PROMPT, json!("Be kind."));
    assert_eq!(prompt(), "Be kind.");
}

#[test]
fn notes_wait_in_the_inbox() {
    let program = said("s", &[]);
    program.get("agent_session_open", json!(["t"]));
    let post = |arguments: Value| program.get("agent_session_post_event", arguments);
    post(json!(["s", "hint", "first", "tester"]));
    post(json!(["t", "hint", "elsewhere"]));
    program.get("agent_inject_feedback", json!(["s", "alarm", "second"]));
    post(json!(["s", "fact", {"a": 1}]));
    let notes = program.get("agent_session_drain_inbox", json!(["s"]));
    let note = |at: usize| {
        let mut note = notes[at].clone();
        assert!(note["ts_ms"].is_i64());
        note.as_object_mut().unwrap().remove("ts_ms");
        note
    };
    let expected = json!({
        "sequence": 1, "session_id": "s", "kind": "hint", "content": "first", "source": "tester",
    });
    assert_eq!(note(0), expected);
    let expected = json!({
        "sequence": 2, "session_id": "s", "kind": "alarm", "content": "second", "source": "loop",
    });
    assert_eq!(note(1), expected);
    let expected = json!({
        "sequence": 3, "session_id": "s", "kind": "fact", "content": "{a: 1}", "source": "loop",
        "payload": {"a": 1},
    });
    assert_eq!(note(2), expected);
    assert_eq!(
        program.get("agent_session_drain_inbox", json!(["s"])),
        json!([])
    );
    let elsewhere = program.get("agent_session_drain_inbox", json!(["t"]));
    assert_eq!(elsewhere.as_array().unwrap().len(), 1);
}

#[test]
fn a_session_is_rebuilt_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::with(RuntimeOptions {
        folder: folder.path().to_owned(),
        ..RuntimeOptions::default()
    });
    let lines = [
        json!({"type": "system_prompt", "content": "Be kind."}),
        json!({"type": "message", "role": "user", "content": "q"}),
        json!({"type": "provider_call_request", "message_count": 1}),
        json!({"type": "provider_call_response", "text": "a"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("calls.jsonl"), text).unwrap();
    let builtin = "agent_session_seed_from_jsonl";
    let seeded = program.get(builtin, json!(["calls.jsonl", {"session_id": "s"}]));
    let expected = json!({"ok": true, "session_id": "s", "message_count": 2, "skipped_lines": 0});
    assert_eq!(seeded, expected);
    let messages = json!([
        {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
    ]);
    assert_eq!(snapshot(&program, "s")["messages"], messages);
    let prompt = program.get("agent_session_system_prompt", json!(["s"]));
    assert_eq!(prompt, "Be kind.");
    let child = program.get(builtin, json!(["calls.jsonl", {"parent": "s"}]));
    assert_eq!(
        snapshot(&program, "s")["child_ids"],
        json!([child["session_id"]])
    );
    std::fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    let refusal = program.refusal(builtin, json!(["empty.jsonl"]));
    assert_eq!(
        refusal,
        format!("{builtin}: 'empty.jsonl' holds no messages")
    );
    let refusal = program.refusal(builtin, json!(["none.jsonl"]));
    assert!(refusal.starts_with(&format!("{builtin}: cannot read 'none.jsonl': ")));
}

#[test]
fn changed_paths_are_noted_once() {
    let program = said("s", &[]);
    let builtin = "agent_session_record_changed_path";
    assert_eq!(program.get(builtin, json!(["a.txt", "s"])), true);
    assert_eq!(program.get(builtin, json!(["a.txt", "s"])), false);
    let none = Default::default();
    let current = program.ask(builtin, json!(["b.txt"]), Some("s"), none);
    assert_eq!(current, Ok(json!(true)));
    let session = program.runtime.session("s").unwrap();
    assert_eq!(
        session.kept(kept::CHANGED_PATHS),
        Some(json!(["a.txt", "b.txt"]))
    );
    let refusal = program.refusal(builtin, json!(["c.txt"]));
    assert_eq!(
        refusal,
        format!("{builtin}: no session is running and `id` is nil")
    );
    let _held = program.runtime.sessions().open_unnamed("anonymous");
    let none = Default::default();
    let current = program.ask(builtin, json!(["b.txt"]), Some("anonymous"), none);
    assert_eq!(current, Ok(json!(true)));
}

#[test]
fn actors_act_for_those_above_them() {
    let program = Program::default();
    program.get("agent_session_open", json!(["root", {"actor": "alice"}]));
    program.get("agent_session_open", json!(["middle", {"parent": "root"}]));
    program.get(
        "agent_session_open",
        json!(["leaf", {"parent": "middle", "actor": {"id": "bot"}}]),
    );
    let builtin = "agent_session_actor_chain";
    assert_eq!(
        program.get(builtin, json!(["leaf"])),
        json!([{"id": "bot"}, "alice"])
    );
    assert_eq!(program.get(builtin, json!(["middle"])), json!(["alice"]));
    assert_eq!(program.get(builtin, json!([])), json!([]));
    program.get("agent_session_open", json!(["root", {"parent": "leaf"}]));
    let chain = program.get(builtin, json!(["root"]));
    assert_eq!(
        chain,
        json!(["alice", {"id": "bot"}]),
        "a circle has an end"
    );
}

#[test]
fn a_call_that_runs_can_be_stopped() {
    let program = said("s", &[]);
    let builtin = "cancel_in_flight_tool_call";
    let nothing = program.get(builtin, json!(["s", "c1"]));
    assert_eq!(nothing["cancelled"], false);
    assert_eq!(nothing["error"], "no tool call 'c1' is running");
    let call = program.runtime.calls_in_flight.begin("s", "c1");
    let stopped = program.get(builtin, json!(["s", "c1", {"reason": "too slow"}]));
    let expected = json!({
        "ok": true, "cancelled": true, "session_id": "s", "call_id": "c1",
        "reason": "too slow", "error": null,
    });
    assert_eq!(stopped, expected);
    let result = harn_log::block_on(call.unless_cancelled(std::future::pending::<()>()));
    assert_eq!(result.unwrap_err().reason, "too slow");
    let refusal = program.refusal(builtin, json!(["s", 5]));
    assert_eq!(
        refusal,
        "cancel_in_flight_tool_call: `call_id` must be a string"
    );
}
