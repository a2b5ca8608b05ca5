//! Arguments that are refused, in the words of the specification.

use serde_json::{Value, json};

use super::said;
use crate::testing::{Program, function};

#[test]
fn ids_are_texts() {
    let program = said("s", &[]);
    let required = [
        ("exists", "id", json!([5])),
        ("length", "id", json!([5])),
        ("snapshot", "id", json!([null])),
        ("ancestry", "id", json!([[]])),
        ("reset", "id", json!([true])),
        ("fork", "src", json!([5])),
        ("fork_at", "src", json!([5, 1])),
        ("close", "id", json!([5])),
        ("trim", "id", json!([5, 1])),
        ("inject", "id", json!([5, {"role": "user"}])),
        ("compact", "id", json!([5])),
        ("workspace_anchor", "id", json!([])),
        ("set_workspace_anchor", "id", json!([5, null])),
        ("workspace_policy", "id", json!([5])),
        ("set_workspace_policy", "id", json!([5, {}])),
        ("add_root", "id", json!([5, "/usr"])),
        ("add_root", "path", json!(["s", 5])),
        ("remove_root", "path", json!(["s", 5])),
        ("list_roots", "id", json!([5])),
        ("reanchor", "id", json!([5, {}])),
        ("scratchpad", "id", json!([5])),
        ("set_scratchpad", "id", json!([5, {}])),
        ("clear_scratchpad", "id", json!([5])),
        ("tool_format", "id", json!([5])),
        ("claim_tool_format", "id", json!([5, "text"])),
        ("claim_tool_format", "format", json!(["s", 5])),
        ("system_prompt", "id", json!([5])),
        ("rollback", "id", json!([5])),
        ("redo", "id", json!([5])),
        ("post_event", "id", json!([5, "k", "c"])),
        ("post_event", "kind", json!(["s", 5, "c"])),
        ("drain_inbox", "id", json!([5])),
        ("attach", "id", json!([5, "c"])),
        ("attach", "client_id", json!(["s", 5])),
        ("detach", "client_id", json!(["s", 5])),
        ("heartbeat", "client_id", json!(["s", 5])),
        ("takeover", "client_id", json!(["s", 5])),
        ("live_clients", "id", json!([5])),
        ("client_inject_prompt", "client_id", json!(["s", 5, "p"])),
        ("route_permission", "id", json!([5, {}])),
        ("seed_from_jsonl", "path", json!([5])),
        ("record_changed_path", "path", json!([5])),
    ];
    for (question, name, arguments) in required {
        let builtin = format!("agent_session_{question}");
        let expected = format!("{builtin}: `{name}` must be a string");
        assert_eq!(program.refusal(&builtin, arguments), expected);
    }
    let optional = [
        ("open", "id", json!([5])),
        ("fork", "dst", json!(["s", 5])),
        ("fork_at", "dst", json!(["s", 1, 5])),
        ("post_event", "source", json!(["s", "k", "c", 5])),
        ("record_changed_path", "id", json!(["p", 5])),
        ("actor_chain", "id", json!([5])),
    ];
    for (question, name, arguments) in optional {
        let builtin = format!("agent_session_{question}");
        let expected = format!("{builtin}: `{name}` must be a string or nil");
        assert_eq!(program.refusal(&builtin, arguments), expected);
    }
}

#[test]
fn sessions_must_be_there() {
    let program = Program::default();
    for question in ["exists", "snapshot", "ancestry"] {
        let answer = program.get(&format!("agent_session_{question}"), json!(["x"]));
        assert!(answer == json!(false) || answer == Value::Null);
    }
    let message = json!({"role": "user", "content": "a"});
    let rows = [
        ("length", json!(["x"])),
        ("reset", json!(["x"])),
        ("fork", json!(["x"])),
        ("fork_at", json!(["x", 1])),
        ("close", json!(["x"])),
        ("trim", json!(["x", 1])),
        ("inject", json!(["x", message])),
        ("compact", json!(["x"])),
        ("workspace_anchor", json!(["x"])),
        ("set_workspace_anchor", json!(["x", null])),
        ("workspace_policy", json!(["x"])),
        ("set_workspace_policy", json!(["x", {}])),
        ("add_root", json!(["x", "/usr"])),
        ("remove_root", json!(["x", "/usr"])),
        ("list_roots", json!(["x"])),
        ("reanchor", json!(["x", {"primary": "/usr"}])),
        ("scratchpad", json!(["x"])),
        ("set_scratchpad", json!(["x", {}])),
        ("clear_scratchpad", json!(["x"])),
        ("tool_format", json!(["x"])),
        ("claim_tool_format", json!(["x", "text"])),
        ("system_prompt", json!(["x"])),
        ("rollback", json!(["x"])),
        ("redo", json!(["x"])),
        ("post_event", json!(["x", "k", "c"])),
        ("drain_inbox", json!(["x"])),
        ("attach", json!(["x", "c"])),
        ("detach", json!(["x", "c"])),
        ("heartbeat", json!(["x", "c"])),
        ("takeover", json!(["x", "c"])),
        ("live_clients", json!(["x"])),
        ("client_inject_prompt", json!(["x", "c", "p"])),
        ("route_permission", json!(["x", {}])),
        ("record_changed_path", json!(["p", "x"])),
        ("actor_chain", json!(["x"])),
    ];
    for (question, arguments) in rows {
        let builtin = format!("agent_session_{question}");
        let expected = format!("{builtin}: unknown session id 'x'");
        assert_eq!(program.refusal(&builtin, arguments), expected);
    }
    assert_eq!(program.get("agent_session_exists", json!(["x"])), false);
}

#[test]
fn counts_are_whole_and_not_negative() {
    let program = said("s", &[]);
    for wrong in [json!("2"), json!(1.5), json!(null)] {
        let refusal = program.refusal("agent_session_trim", json!(["s", wrong]));
        assert_eq!(refusal, "agent_session_trim: `keep_last` must be an int");
        let refusal = program.refusal("agent_session_fork_at", json!(["s", wrong]));
        assert_eq!(
            refusal,
            "agent_session_fork_at: `keep_first` must be an int"
        );
    }
    let refusal = program.refusal("agent_session_trim", json!(["s", -1]));
    assert_eq!(refusal, "agent_session_trim: `keep_last` must be >= 0");
    let refusal = program.refusal("agent_session_fork_at", json!(["s", -1]));
    assert_eq!(refusal, "agent_session_fork_at: `keep_first` must be >= 0");
    assert_eq!(
        program.get("agent_session_snapshot", json!(["s"]))["child_ids"],
        json!([])
    );
}

#[test]
fn options_are_dicts() {
    let program = said("s", &[]);
    let rows = [
        ("open", json!(["s", 3])),
        ("compact", json!(["s", "truncate"])),
        ("reanchor", json!(["s", {"primary": "/usr"}, 3])),
        ("add_root", json!(["s", "/usr", []])),
        ("attach", json!(["s", "c", true])),
        ("set_scratchpad", json!(["s", {}, 3])),
    ];
    for (question, arguments) in rows {
        let builtin = format!("agent_session_{question}");
        let expected = format!("{builtin}: `opts` must be a dict or nil");
        assert_eq!(program.refusal(&builtin, arguments), expected);
    }
    let closure = function("/1", |_| Ok(Value::Null));
    let refused = program.ask("agent_session_compact", json!(["s", null]), None, closure);
    assert!(refused.is_err(), "a closure is no dict");
}

#[test]
fn a_builtin_about_something_else_is_not_answered() {
    let program = Program::default();
    assert!(program.call("agent_session_dance", json!([])).is_err());
}
