//! Where sessions work.

use serde_json::{Value, json};

use super::{said, snapshot};
use crate::policy::SessionGrant;
use crate::session::Change;
use crate::testing::Program;

/// The time of the test, as people write it.
const NOW: &str = "2026-01-31T11:59:59.999Z";

#[test]
fn an_anchor_needs_a_primary_root_only() {
    let program = said("s", &[]);
    let anchor = |id: &str| program.get("agent_session_workspace_anchor", json!([id]));
    assert_eq!(anchor("s"), Value::Null);
    program.get(
        "agent_session_set_workspace_anchor",
        json!(["s", {"primary": "/usr/../usr/."}]),
    );
    let expected = json!({"primary": "/usr", "additional_roots": [], "anchored_at": NOW});
    assert_eq!(anchor("s"), expected);
    program.get("agent_session_set_workspace_anchor", json!(["s", null]));
    assert_eq!(anchor("s"), Value::Null);
    let root = json!({"path": "/no/such/./place", "mount_mode": "sandboxed", "mounted_at": "then"});
    let given = json!({"primary": "/usr", "additional_roots": [root, "/"], "anchored_at": "once"});
    program.get(
        "agent_session_open",
        json!(["t", {"workspace_anchor": given}]),
    );
    let expected = json!({
        "primary": "/usr",
        "anchored_at": "once",
        "additional_roots": [
            {"path": "/no/such/place", "mount_mode": "sandboxed", "mounted_at": "then"},
            {"path": "/", "mount_mode": "read_only", "mounted_at": NOW},
        ],
    });
    assert_eq!(anchor("t"), expected);
}

#[test]
fn what_is_no_anchor_is_refused() {
    let program = said("s", &[]);
    let mode = "unknown mount_mode 'rw' (expected 'read_only', 'extend', or 'sandboxed')";
    let rows = [
        (json!(3), "`anchor` must be a dict or nil"),
        (json!({}), "workspace anchor must have a string `primary`"),
        (
            json!({"primary": "/", "additional_roots": 3}),
            "`additional_roots` must be a list",
        ),
        (
            json!({"primary": "/", "additional_roots": [3]}),
            "additional roots must be dicts",
        ),
        (
            json!({"primary": "/", "additional_roots": [{}]}),
            "additional roots must have a string `path`",
        ),
        (
            json!({"primary": "/", "additional_roots": [{"path": "/", "mount_mode": "rw"}]}),
            mode,
        ),
    ];
    let builtin = "agent_session_set_workspace_anchor";
    for (anchor, complaint) in rows {
        let refusal = program.refusal(builtin, json!(["s", anchor]));
        assert_eq!(refusal, format!("{builtin}: {complaint}"));
    }
    let refusal = program.refusal(
        "agent_session_open",
        json!(["n", {"workspace_anchor": "/"}]),
    );
    assert_eq!(
        refusal,
        "agent_session_open: workspace anchor must be a dict"
    );
    assert_eq!(program.get("agent_session_exists", json!(["n"])), false);
}

#[test]
fn a_policy_goes_with_the_workspace() {
    let program = said("s", &[]);
    let policy = || program.get("agent_session_workspace_policy", json!(["s"]));
    assert_eq!(policy(), Value::Null);
    program.get("agent_session_set_workspace_policy", json!(["s", {}]));
    assert_eq!(policy(), json!({}));
    program.get(
        "agent_session_open",
        json!(["s", {"workspace_policy": {"a": 1}}]),
    );
    assert_eq!(policy(), json!({"a": 1}));
    let refusal = program.refusal("agent_session_set_workspace_policy", json!(["s", 3]));
    assert_eq!(
        refusal,
        "agent_session_set_workspace_policy: `policy` must be a dict"
    );
}

#[test]
fn roots_are_mounted_and_taken_away() {
    let program = said("s", &[]);
    let none = json!({"primary": null, "additional": []});
    assert_eq!(program.get("agent_session_list_roots", json!(["s"])), none);
    let refusal = program.refusal("agent_session_add_root", json!(["s", "/etc"]));
    assert_eq!(
        refusal,
        "agent_session_add_root: session 's' has no workspace anchor"
    );
    program.get(
        "agent_session_set_workspace_anchor",
        json!(["s", {"primary": "/usr"}]),
    );
    program.get("agent_session_add_root", json!(["s", "/etc"]));
    program.get(
        "agent_session_add_root",
        json!(["s", "/opt", {"mount_mode": "extend"}]),
    );
    let roots = program.get(
        "agent_session_add_root",
        json!(["s", "/etc/", {"mount_mode": "sandboxed"}]),
    );
    let root =
        |path: &str, mode: &str| json!({"path": path, "mount_mode": mode, "mounted_at": NOW});
    let expected = json!({
        "primary": "/usr",
        "additional": [root("/etc", "sandboxed"), root("/opt", "extend")],
    });
    assert_eq!(roots, expected);
    assert_eq!(
        program.get("agent_session_list_roots", json!(["s"])),
        expected
    );
    program.get("agent_session_remove_root", json!(["s", "/etc"]));
    let left = program.get("agent_session_remove_root", json!(["s", "/nowhere"]));
    assert_eq!(left["additional"], json!([root("/opt", "extend")]));
    let anchor = program.get("agent_session_workspace_anchor", json!(["s"]));
    assert_eq!(anchor["additional_roots"], json!([root("/opt", "extend")]));
}

fn anchored() -> Program {
    let program = said("s", &["q"]);
    program.get(
        "agent_session_set_workspace_anchor",
        json!(["s", {"primary": "/usr"}]),
    );
    program
}

fn reanchor(program: &Program, options: Value) -> Value {
    let arguments = json!(["s", {"primary": "/etc"}, options]);
    program.get("agent_session_reanchor", arguments)
}

#[test]
fn a_session_moves_with_all_that_was_said() {
    let program = anchored();
    let session = program.runtime.session("s").unwrap();
    let grant = SessionGrant::of((0, "s"), "run", &json!({}));
    session.record(Change::Granted { grant });
    let watch = program.watch("s");
    let moved = reanchor(&program, json!({"reason": "new task"}));
    let anchor =
        |primary: &str| json!({"primary": primary, "additional_roots": [], "anchored_at": NOW});
    let expected = json!({
        "ok": true, "changed": true, "session_id": "s", "anchor": anchor("/etc"),
        "compacted": false, "error": null,
    });
    assert_eq!(moved, expected);
    let event = json!({
        "type": "anchor_changed", "session_id": "s", "previous": anchor("/usr"),
        "current": anchor("/etc"), "carry_transcript": true, "compacted": false,
        "reason": "new task",
    });
    assert_eq!(watch.take(), [event]);
    let events = snapshot(&program, "s")["events"].clone();
    assert_eq!(events[1]["kind"], "anchor_changed");
    assert_eq!(events[1]["metadata"]["current"], anchor("/etc"));
    assert!(session.read(|state| state.grants.is_empty()));
    assert_eq!(program.get("agent_session_length", json!(["s"])), 1);
}

#[test]
fn a_session_that_is_there_already_does_not_move() {
    let program = anchored();
    reanchor(&program, json!(null));
    let session = program.runtime.session("s").unwrap();
    let grant = SessionGrant::of((0, "s"), "run", &json!({}));
    session.record(Change::Granted { grant });
    let watch = program.watch("s");
    program.wait(1000);
    let same = reanchor(&program, json!({"compact": true}));
    assert_eq!(
        (&same["ok"], &same["changed"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(same["anchor"]["anchored_at"], NOW);
    assert!(watch.take().is_empty());
    assert!(!session.read(|state| state.grants.is_empty()));
}

#[test]
fn a_session_becomes_shorter_on_the_way() {
    let program = anchored();
    for number in 0..12 {
        let message = json!({"role": "user", "content": number.to_string()});
        program.get("agent_session_inject", json!(["s", message]));
    }
    let moved = reanchor(&program, json!({"compact": true}));
    assert_eq!(moved["compacted"], true);
    assert_eq!(program.get("agent_session_length", json!(["s"])), 13);
}

#[test]
fn a_session_that_leaves_its_past_behind_is_a_fresh_fork() {
    let program = anchored();
    let moved = reanchor(&program, json!({"carry_transcript": false}));
    let id = moved["session_id"].as_str().unwrap();
    assert_ne!(id, "s");
    let fork = snapshot(&program, id);
    assert_eq!(fork["messages"], json!([]));
    assert_eq!(fork["parent_id"], "s");
    assert_eq!(fork["events"][0]["kind"], "anchor_changed");
    let anchor = |id: &str| program.get("agent_session_workspace_anchor", json!([id]));
    assert_eq!(anchor(id)["primary"], "/etc");
    assert_eq!(anchor("s")["primary"], "/usr");
    assert_eq!(program.get("agent_session_length", json!(["s"])), 1);
}

#[test]
fn a_move_that_makes_no_sense_is_refused() {
    let program = anchored();
    let rows = [
        (
            json!({"compact": true, "carry_transcript": false}),
            "`compact: true` requires `carry_transcript: true`",
        ),
        (
            json!({"fast": true}),
            "unknown option key 'fast' (expected one of: carry_transcript, compact, reason)",
        ),
        (json!({"reason": 3}), "`reason` must be a string or nil"),
    ];
    for (options, complaint) in rows {
        let arguments = json!(["s", {"primary": "/etc"}, options]);
        let refusal = program.refusal("agent_session_reanchor", arguments);
        assert_eq!(refusal, format!("agent_session_reanchor: {complaint}"));
    }
    let refusal = program.refusal("agent_session_reanchor", json!(["s", null]));
    assert_eq!(refusal, "agent_session_reanchor: `anchor` must be a dict");
}
