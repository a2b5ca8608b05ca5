//! Sessions begin and end.

use serde_json::json;

use super::{said, snapshot};
use crate::testing::Program;

#[test]
fn a_session_is_opened_by_name_or_gets_one() {
    let program = Program::default();
    assert_eq!(program.get("agent_session_open", json!(["s"])), "s");
    assert_eq!(program.get("agent_session_open", json!(["s"])), "s");
    let one = program.get("agent_session_open", json!([]));
    let other = program.get("agent_session_open", json!([null]));
    let third = program.get("agent_session_open", json!([""]));
    assert!(one != other && other != third && third != "");
    assert_eq!(program.get("agent_session_exists", json!([one])), true);
}

#[test]
fn a_snapshot_is_a_transcript_with_the_lineage() {
    let program = said("s", &["q"]);
    let snapshot = snapshot(&program, "s");
    assert_eq!(snapshot["_type"], "transcript");
    assert_eq!(snapshot["version"], 2);
    assert_eq!(snapshot["id"], "s");
    assert_eq!(
        snapshot["messages"],
        json!([{"role": "user", "content": "q"}])
    );
    assert_eq!(snapshot["events"][0]["text"], "q");
    assert_eq!(snapshot["assets"], json!([]));
    let fields = snapshot.as_object().unwrap();
    assert_eq!(fields["parent_id"], json!(null));
    assert_eq!(fields["child_ids"], json!([]));
    assert_eq!(fields["branched_at_event_index"], json!(null));
    for key in ["summary", "metadata", "state"] {
        assert!(!fields.contains_key(key), "{key} is not set");
    }
}

#[test]
fn opening_as_a_child_moves_it_to_its_new_parent() {
    let program = Program::default();
    for id in ["p1", "p2"] {
        program.get("agent_session_open", json!([id]));
    }
    program.get("agent_session_open", json!(["c", {"parent": "p1"}]));
    let ancestry = |id: &str| program.get("agent_session_ancestry", json!([id]));
    let of_child = json!({"child_ids": [], "parent_id": "p1", "root_id": "p1"});
    assert_eq!(ancestry("c"), of_child);
    program.get("agent_session_open", json!(["c", {"parent": "p2"}]));
    assert_eq!(ancestry("c")["parent_id"], "p2");
    assert_eq!(ancestry("p1")["child_ids"], json!([]));
    assert_eq!(ancestry("p2")["child_ids"], json!(["c"]));
    program.get("agent_session_open", json!(["p2", {"parent": "c"}]));
    assert_eq!(ancestry("c")["root_id"], "p2", "a circle has an end");
    let refusal = program.refusal("agent_session_open", json!(["d", {"parent": "x"}]));
    assert_eq!(refusal, "agent_session_open: unknown session id 'x'");
    let refusal = program.refusal("agent_session_open", json!(["c", {"parent": "c"}]));
    assert_eq!(
        refusal,
        "agent_session_open: a session cannot be its own parent"
    );
    assert_eq!(program.get("agent_session_exists", json!(["d"])), false);
}

#[test]
fn a_reset_empties_the_transcript_and_keeps_the_rest() {
    let program = said("s", &["q"]);
    program.get("agent_session_fork", json!(["s", "child"]));
    program.get(
        "agent_session_set_workspace_anchor",
        json!(["s", {"primary": "/usr"}]),
    );
    program.get(
        "agent_session_set_scratchpad",
        json!(["s", {"goals": ["ship"]}]),
    );
    let watch = program.watch("s");
    assert_eq!(
        program.get("agent_session_reset", json!(["s"])),
        json!(null)
    );
    assert_eq!(program.get("agent_session_length", json!(["s"])), 0);
    assert_eq!(program.get("agent_session_length", json!(["child"])), 1);
    assert_eq!(snapshot(&program, "s")["events"], json!([]));
    assert_eq!(snapshot(&program, "s")["child_ids"], json!(["child"]));
    let anchor = program.get("agent_session_workspace_anchor", json!(["s"]));
    assert_eq!(anchor["primary"], "/usr");
    assert_eq!(
        program.get("agent_session_scratchpad", json!(["s"])),
        json!(null)
    );
    program.get("agent_session_close", json!(["s"]));
    assert_eq!(watch.take()[0]["type"], "session_closed");
}

#[test]
fn closing_says_why() {
    let rows = [
        (json!(null), "closed", "closed", json!(null)),
        (
            json!("completed"),
            "completed",
            "completed",
            json!("completed"),
        ),
        (
            json!({"reason": "user left", "status": "cancelled", "metadata": {"n": 1}}),
            "user left",
            "cancelled",
            json!({"n": 1}),
        ),
        (
            json!({"reason": "finished"}),
            "finished",
            "finished",
            json!({"reason": "finished"}),
        ),
        (
            json!({"status": "bad"}),
            "closed",
            "bad",
            json!({"status": "bad"}),
        ),
    ];
    for (status, reason, status_word, metadata) in rows {
        let program = said("s", &["q"]);
        let watch = program.watch("s");
        let closed = program.get("agent_session_close", json!(["s", status]));
        assert_eq!(closed, json!(null));
        let expected = json!({
            "type": "session_closed", "session_id": "s", "reason": reason,
            "status": status_word, "metadata": metadata,
        });
        assert_eq!(watch.take(), [expected]);
        assert_eq!(program.get("agent_session_exists", json!(["s"])), false);
        program.get("agent_session_open", json!(["s"]));
        assert_eq!(program.get("agent_session_length", json!(["s"])), 0);
    }
    let program = said("s", &[]);
    let refusal = program.refusal("agent_session_close", json!(["s", 3]));
    assert_eq!(
        refusal,
        "agent_session_close: `status` must be a string, a dict or nil"
    );
}

#[test]
fn a_session_with_a_loop_does_not_close() {
    let program = said("s", &[]);
    program.runtime.sessions().begin_run("s");
    for question in ["close", "rollback", "redo"] {
        let builtin = format!("agent_session_{question}");
        let expected = format!("{builtin}: session 's' has a running loop");
        assert_eq!(program.refusal(&builtin, json!(["s"])), expected);
    }
    program.runtime.sessions().end_run("s");
    program.get("agent_session_close", json!(["s"]));
}

#[test]
fn children_outlive_their_parent() {
    let program = said("s", &["q"]);
    program.get("agent_session_fork", json!(["s", "t"]));
    program.get("agent_session_close", json!(["s"]));
    assert_eq!(program.get("agent_session_length", json!(["t"])), 1);
}

#[test]
fn the_session_not_used_for_longest_makes_room() {
    let program = Program::default();
    for at in 0..128 {
        program.get("agent_session_open", json!([format!("s{at}")]));
    }
    let message = json!({"role": "user", "content": "x"});
    program.get("agent_session_open", json!(["s0"]));
    program.get("agent_session_inject", json!(["s1", message]));
    program.get("agent_session_trim", json!(["s2", 0]));
    program.get("agent_session_reset", json!(["s3"]));
    program.get("agent_session_compact", json!(["s5"]));
    for question in ["length", "exists", "snapshot", "ancestry", "scratchpad"] {
        program.get(&format!("agent_session_{question}"), json!(["s4"]));
    }
    let watch = program.watch("s4");
    let exists = |id: &str| program.get("agent_session_exists", json!([id])) == true;
    program.get("agent_session_open", json!(["new"]));
    assert_eq!(watch.take()[0]["reason"], "evicted");
    assert!(!exists("s4") && exists("s6"));
    program.get("agent_session_fork", json!(["s6", "child"]));
    assert!(exists("s6") && !exists("s7") && exists("child"));
    for id in ["s0", "s1", "s2", "s3", "s5"] {
        assert!(exists(id), "{id} was used");
    }
}

#[test]
fn the_current_session_is_that_of_the_innermost_loop() {
    let program = Program::default();
    assert_eq!(
        program.get("agent_session_current_id", json!([])),
        json!(null)
    );
    let none = Default::default();
    let current = program.ask("agent_session_current_id", json!([]), Some("s"), none);
    assert_eq!(current, Ok(json!("s")));
}
