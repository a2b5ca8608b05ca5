//! The `_harn/*` messages that clients send.

use std::sync::Arc;

use harn_vm::agent::HostBridge;
use serde_json::{Value, json};

use super::super::{Told, handle_extension};
use super::operator;
use super::{FakePeer, Reply, bridge, host};

#[test]
fn every_message_has_its_names() {
    let rows = [
        (Told::Input, "_harn/session/input", "session/input"),
        (Told::Input, "user_message", "agent/user_message"),
        (Told::Resume, "_harn/agent/resume", "agent/resume"),
        (Told::Respond, "_harn/hitl/respond", "harn.hitl.respond"),
        (Told::SkillsChanged, "_harn/skills/changed", "skills/update"),
        (
            Told::Workflow("signal"),
            "_harn/workflow/signal",
            "workflow/signal",
        ),
        (
            Told::Workflow("query"),
            "_harn/workflow/query",
            "harn.workflow.query",
        ),
        (
            Told::Workflow("update"),
            "_harn/workflow/update",
            "workflow/update",
        ),
        (
            Told::Workflow("pause"),
            "_harn/workflow/pause",
            "harn.workflow.pause",
        ),
        (
            Told::Workflow("resume"),
            "_harn/workflow/resume",
            "workflow/resume",
        ),
        (Told::Emit, "_harn/events/emit", "_harn/events/emit"),
    ];
    for (told, one, other) in rows {
        assert_eq!(Told::named(one), Some(told));
        assert_eq!(Told::named(other), Some(told));
    }
    assert_eq!(Told::named("_harn/session/other"), None);
    assert!(Told::canonical().all(|name| name.starts_with("_harn/")));
}

#[tokio::test(start_paused = true)]
async fn a_daemon_is_woken_once() {
    let host = host(&FakePeer::new(json!({}), |_, _| Reply::Never)).await;
    assert!(!host.take_resume("s"));
    let told = handle_extension(&host, Told::Resume, &json!({"sessionId": "s"}), &operator()).await;
    assert_eq!(told, Ok(json!({})));
    assert!(!host.take_resume("child"));
    assert!(host.take_resume("s"));
    assert!(!host.take_resume("s"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_says_that_its_skills_have_changed() {
    let peer = FakePeer::new(bridge(), |_, _| Reply::Ok(json!([])));
    let host = host(&peer).await;
    assert!(!host.has_other_skills());
    let told = handle_extension(&host, Told::SkillsChanged, &json!({}), &operator()).await;
    assert_eq!(told, Ok(json!({})));
    assert!(host.has_other_skills());
    // A program asks on a thread of its own.
    let asked = Arc::clone(&host);
    let skills = tokio::task::spawn_blocking(move || asked.skills()).await;
    assert_eq!(skills.expect("it answers"), Vec::<Value>::new());
    assert_eq!(peer.methods(), ["_harn/skills/list"]);
    assert!(!host.has_other_skills());
}

#[tokio::test(start_paused = true)]
async fn events_of_the_host_go_through_its_door() {
    let host = host(&FakePeer::new(json!({}), |_, _| Reply::Never)).await;
    let emit = |kind: &str, payload| json!({"sessionId": "s", "type": kind, "payload": payload});
    let noted = emit("typed_checkpoint", json!({"kind": "note", "text": "hello"}));
    assert_eq!(
        handle_extension(&host, Told::Emit, &noted, &operator()).await,
        Ok(json!({}))
    );
    // What only the runtime may say is refused.
    for event in [
        emit("control_outcome", json!({})),
        emit("", json!({})),
        json!({}),
    ] {
        let refused = handle_extension(&host, Told::Emit, &event, &operator()).await;
        assert_eq!(refused.expect_err("it is refused").code, -32602, "{event}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_workflow_there_is_nothing_to_control() {
    let host = host(&FakePeer::new(json!({}), |_, _| Reply::Never)).await;
    let refused = handle_extension(&host, Told::Workflow("pause"), &json!({}), &operator()).await;
    let refused = refused.expect_err("there is none");
    assert_eq!(
        refused.message,
        "there is no workflow in this session to pause"
    );
    assert_eq!(refused.data, Some(json!({"reason": "no_workflow"})));
}
