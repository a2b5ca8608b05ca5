//! `session/request_permission`.

use std::time::Duration;

use harn_vm::agent::HostBridge;
use harn_vm::agent::policy::{HostAnswer, read_host_answer};
use serde_json::{Value, json};

use super::{FakePeer, Reply, facts, host, host_with, settle};

/// What the runtime asks.
fn asked(remembers: Option<&str>) -> Value {
    json!({
        "sessionId": "s",
        "approvalRequest": {
            "id": "a1", "action": "write", "args": {"path": "/w/a", "key": "[redacted]"},
            "principal": null, "requestedAt": "2026-01-01T00:00:00.000Z",
            "approversRequired": 1, "evidenceRefs": [], "undoMetadata": null,
            "capabilitiesRequested": ["workspace.write_text"],
        },
        "toolCall": {
            "toolCallId": "c1", "toolName": "write", "kind": "edit",
            "rawInput": {"path": "/w/a", "key": "very secret"},
        },
        "remembers": remembers,
        "declaredPaths": ["/w/a"],
    })
}

fn announced() -> Value {
    json!({
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Write a", "kind": "edit",
        "rawInput": {"path": "/w/a"}, "locations": [{"path": "/w/a"}],
    })
}

fn selected(option: &str) -> Reply {
    Reply::Ok(json!({"outcome": {"outcome": "selected", "optionId": option}}))
}

/// What the runtime makes of an answer of the client.
async fn decision(reply: fn() -> Reply) -> HostAnswer {
    let peer = FakePeer::new(json!({}), move |_, _| reply());
    let host = host(&peer).await;
    host.said(&announced());
    let said = host
        .request("session/request_permission", asked(Some("tool")))
        .await;
    said.map_or_else(
        |error| HostAnswer::Denied(error.to_string()),
        |said| read_host_answer(&said),
    )
}

fn denied(reason: &str) -> HostAnswer {
    HostAnswer::Denied(reason.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_request_names_the_call_as_the_client_knows_it_and_shows_what_is_decided() {
    let peer = FakePeer::new(json!({}), |_, _| selected("allow_once"));
    let host = host(&peer).await;
    host.said(&announced());
    let parameters = asked(None);
    let said = host.request("session/request_permission", parameters.clone());
    let said = said.await.expect("it answers");
    assert_eq!(
        read_host_answer(&said),
        HostAnswer::Granted { arguments: None }
    );
    let sent = peer.last();
    assert_eq!(sent["sessionId"], "s");
    assert_eq!(
        sent["toolCall"],
        json!({
            "toolCallId": "c1", "status": "pending", "title": "Write a", "kind": "edit",
            "rawInput": {"path": "/w/a", "key": "[redacted]"}, "locations": [{"path": "/w/a"}],
        })
    );
    assert_eq!(
        sent["_meta"]["harn"]["approval"],
        parameters["approvalRequest"]
    );
    assert!(!sent.to_string().contains("very secret"));
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_until_the_client_knows_the_call() {
    let peer = FakePeer::new(json!({}), |_, _| selected("allow_once"));
    let host = host(&peer).await;
    let asking = tokio::spawn({
        let host = std::sync::Arc::clone(&host);
        async move {
            host.request("session/request_permission", asked(None))
                .await
        }
    });
    settle().await;
    assert_eq!(peer.methods(), Vec::<String>::new());
    host.said(&announced());
    assert!(asking.await.expect("it ends").is_ok());
    assert_eq!(peer.methods(), ["session/request_permission"]);
}

#[tokio::test(start_paused = true)]
async fn answers_for_good_are_offered_only_where_they_are_remembered() {
    let offered = |remembers: Option<&'static str>| async move {
        let peer = FakePeer::new(json!({}), |_, _| selected("reject_once"));
        let host = host(&peer).await;
        host.said(&announced());
        let said = host.request("session/request_permission", asked(remembers));
        assert!(said.await.is_ok());
        let options = peer.last()["options"].clone();
        let options = options.as_array().expect("there are options").clone();
        options
            .iter()
            .map(|option| format!("{}: {}", option["kind"], option["name"]).replace('"', ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        offered(None).await,
        [
            "allow_once: Allow this call",
            "reject_once: Reject this call"
        ]
    );
    assert_eq!(
        offered(Some("tool")).await,
        [
            "allow_once: Allow this call",
            "allow_always: Allow every call of `write` in this session",
            "reject_once: Reject this call",
            "reject_always: Reject every call of `write` in this session",
        ]
    );
    let exactly = "allow_always: Allow `write` with exactly these arguments in this session";
    assert_eq!(offered(Some("call")).await[1], exactly);
}

#[tokio::test(start_paused = true)]
async fn only_an_option_that_was_offered_grants() {
    let granted = HostAnswer::Granted { arguments: None };
    assert_eq!(decision(|| selected("allow_once")).await, granted);
    assert_eq!(decision(|| selected("allow_always")).await, granted);
    let no = denied("host did not grant approval");
    assert_eq!(decision(|| selected("reject_once")).await, no);
    // The runtime knows this word, but the client was not offered it.
    let strange = denied("the client chose something that was not offered");
    assert_eq!(decision(|| selected("allow")).await, strange);
    assert_eq!(decision(|| selected("")).await, strange);
}

#[tokio::test(start_paused = true)]
async fn whatever_goes_wrong_is_a_no() {
    let dismissed = || Reply::Ok(json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(
        decision(dismissed).await,
        denied("the request was dismissed")
    );
    let nonsense = || Reply::Ok(json!({"granted": true}));
    assert_eq!(
        decision(nonsense).await,
        denied("the request was dismissed")
    );
    assert_eq!(
        decision(|| Reply::Err(-32603)).await,
        denied("error -32603 (-32603)")
    );
    assert_eq!(
        decision(|| Reply::Gone).await,
        denied("nobody is there to be asked")
    );
    let host = super::EditorHost::new(facts(Vec::new()), super::Peers::new(Duration::ZERO));
    host.said(&announced());
    let said = host
        .request("session/request_permission", asked(None))
        .await;
    let said = read_host_answer(&said.expect("it is an answer"));
    assert_eq!(said, denied("nobody is there to be asked"));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passes_is_a_no_and_withdraws_the_question() {
    let peer = FakePeer::new(json!({}), |_, _| Reply::Never);
    let mut facts = facts(Vec::new());
    facts.answer_within = Some(super::super::NETWORK_ANSWER_WITHIN);
    let host = host_with(&peer, facts).await;
    host.said(&announced());
    let said = host
        .request("session/request_permission", asked(None))
        .await;
    let said = read_host_answer(&said.expect("it is an answer"));
    assert_eq!(said, denied("nobody has answered in time"));
    assert_eq!(peer.withdrawn(), ["session/request_permission"]);
    // Ten minutes after the first second of 2026.
    let deadline = &peer.last()["_meta"]["harn"]["approval"]["deadline"];
    assert_eq!(deadline, "2026-01-01T00:10:00.000Z");
}

#[tokio::test(start_paused = true)]
async fn a_question_too_many_is_a_no_that_nobody_is_asked() {
    let peer = FakePeer::new(json!({}), |_, _| Reply::Never);
    let facts = facts(Vec::new());
    let refused = facts.refused.clone();
    let host = host_with(&peer, facts).await;
    host.said(&announced());
    let ask = || {
        let host = std::sync::Arc::clone(&host);
        tokio::spawn(async move {
            let asked = host.request("session/request_permission", asked(None));
            asked.await.map(|said| read_host_answer(&said))
        })
    };
    let waiting = [ask(), ask()];
    settle().await;
    let beyond = ask().await.expect("it ends");
    assert_eq!(beyond, Ok(denied("too many questions wait for an answer")));
    assert_eq!(peer.methods().len(), 2);
    assert_eq!(refused.all()[1], ("permissions_refused", 1));
    // One that is withdrawn makes room.
    waiting[0].abort();
    settle().await;
    let next = ask();
    settle().await;
    assert!(!next.is_finished());
    assert_eq!(peer.methods().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cancelled_withdraws_the_question() {
    let peer = FakePeer::new(json!({}), |_, _| Reply::Never);
    let host = host(&peer).await;
    host.said(&announced());
    let asking = tokio::spawn({
        let host = std::sync::Arc::clone(&host);
        async move {
            host.request("session/request_permission", asked(None))
                .await
        }
    });
    settle().await;
    assert_eq!(peer.methods(), ["session/request_permission"]);
    asking.abort();
    settle().await;
    assert_eq!(peer.withdrawn(), ["session/request_permission"]);
}

#[tokio::test(start_paused = true)]
async fn changed_arguments_are_passed_on_if_they_are_an_object() {
    let with = |args: Value| {
        json!({
            "outcome": {"outcome": "selected", "optionId": "allow_once"},
            "_meta": {"harn": {"args": args}},
        })
    };
    let changed = decision(|| {
        Reply::Ok(json!({
            "outcome": {"outcome": "selected", "optionId": "allow_once"},
            "_meta": {"harn": {"args": {"path": "/w/b"}}},
        }))
    });
    let arguments = Some(json!({"path": "/w/b"}));
    assert_eq!(changed.await, HostAnswer::Granted { arguments });
    let peer = FakePeer::new(json!({}), move |_, _| Reply::Ok(with(json!("rm"))));
    let host = host(&peer).await;
    host.said(&announced());
    let said = host
        .request("session/request_permission", asked(None))
        .await;
    let said = read_host_answer(&said.expect("it is an answer"));
    assert_eq!(said, denied("the arguments of the client are no object"));
}
