//! Sessions that begin where another one is.

use serde_json::json;

use super::{contents, said, snapshot, texts};

#[test]
fn a_fork_has_the_same_messages_and_a_parent() {
    let program = said("s", &["q", "more"]);
    assert_eq!(program.get("agent_session_fork", json!(["s", "t"])), "t");
    let child = snapshot(&program, "t");
    assert_eq!(child["id"], "t");
    assert_eq!(contents(&child["messages"], "content"), ["q", "more"]);
    assert_eq!(child["parent_id"], "s");
    assert_eq!(child["branched_at_event_index"], json!(null));
    assert_eq!(child["metadata"], json!({"parent_session_id": "s"}));
    assert_eq!(snapshot(&program, "s")["child_ids"], json!(["t"]));
    assert!(snapshot(&program, "s").get("metadata").is_none());
    let message = json!({"role": "user", "content": "here"});
    program.get("agent_session_inject", json!(["t", message]));
    assert_eq!(texts(&program, "s"), ["q", "more"]);
}

#[test]
fn a_fork_at_a_message_counts_the_events_it_shares() {
    let program = said("s", &["a", "b"]);
    let message = json!({"role": "tool_result", "tool_use_id": "1", "content": "r"});
    program.get("agent_session_inject", json!(["s", message]));
    let session = program.runtime.session("s").unwrap();
    let event = json!({"id": "e", "kind": "plan", "text": "p"});
    session.record(crate::session::Change::EventAdded {
        event: event.into(),
    });
    let rows = [
        (0, 0, 0),
        (1, 1, 1),
        (2, 2, 2),
        (3, 3, 3),
        (4, 3, 4),
        (9, 3, 4),
    ];
    for (keep_first, kept, branched_at) in rows {
        let id = program.get("agent_session_fork_at", json!(["s", keep_first]));
        let child = snapshot(&program, id.as_str().unwrap());
        assert_eq!(child["messages"].as_array().unwrap().len(), kept);
        assert_eq!(child["events"].as_array().unwrap().len(), kept);
        assert_eq!(child["branched_at_event_index"], branched_at);
        assert_eq!(child["metadata"]["parent_session_id"], "s");
    }
    let all = program.get("agent_session_fork", json!(["s"]));
    let all = snapshot(&program, all.as_str().unwrap());
    assert_eq!(
        all["events"].as_array().unwrap().len(),
        4,
        "a fork has all events"
    );
}

#[test]
fn a_fork_onto_a_session_replaces_what_was_said_there() {
    let program = said("s", &["q"]);
    program.get("agent_session_open", json!(["p"]));
    program.get("agent_session_open", json!(["t", {"parent": "p"}]));
    let message = json!({"role": "user", "content": "gone"});
    program.get("agent_session_inject", json!(["t", message]));
    program.get("agent_session_fork", json!(["s", "t"]));
    assert_eq!(texts(&program, "t"), ["q"]);
    assert_eq!(snapshot(&program, "p")["child_ids"], json!([]));
    assert_eq!(snapshot(&program, "t")["parent_id"], "s");
}

#[test]
fn a_session_cannot_be_forked_onto_itself_or_into_a_loop() {
    let program = said("s", &["q"]);
    let expected = "agent_session_fork: failed to fork session 's'";
    assert_eq!(
        program.refusal("agent_session_fork", json!(["s", "s"])),
        expected
    );
    program.get("agent_session_open", json!(["t"]));
    program.runtime.sessions().begin_run("t");
    assert_eq!(
        program.refusal("agent_session_fork", json!(["s", "t"])),
        expected
    );
}

#[test]
fn a_fork_takes_the_workspace_along_but_no_skills_and_no_readers() {
    let program = said("s", &[]);
    program.get(
        "agent_session_set_workspace_anchor",
        json!(["s", {"primary": "/usr"}]),
    );
    let session = program.runtime.session("s").unwrap();
    let names = vec!["deploy".to_owned()];
    session.record(crate::session::Change::SkillsSet { names });
    let watch = program.watch("s");
    program.get("agent_session_fork", json!(["s", "t"]));
    let anchor = program.get("agent_session_workspace_anchor", json!(["t"]));
    assert_eq!(anchor["primary"], "/usr");
    let fork = program.runtime.session("t").unwrap();
    assert!(fork.read(|state| state.active_skills.is_empty()));
    program.get("agent_session_close", json!(["t"]));
    assert!(watch.take().is_empty());
}
