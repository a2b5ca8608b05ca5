//! Questions to people, and what comes back.

use std::sync::Arc;

use harn_vm::agent::log::{EventLog, LogEvent, Topic};
use harn_vm::agent::people::{NOTICE, RESOLVED, RequestKind, headers};
use harn_vm::agent::{Elicits, HostBridge, HostError};
use serde_json::{Value, json};

use super::super::{EditorHost, Told, handle_extension};
use super::operator;
use super::{FakePeer, NOW, Reply, bridge, facts, host, host_with, settle};

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn pages() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

fn notice(kind: &str, metadata: Value) -> Value {
    json!({
        "requestId": "r1", "kind": kind, "sessionId": "s",
        "payload": {"request_id": "r1", "prompt": "Which?", "approvers": [], "metadata": metadata},
    })
}

/// What a person says to a question, if they do.
async fn answer(host: &Arc<EditorHost>, notice: Value) -> Option<Value> {
    host.notify(NOTICE, notice);
    let answering = tokio::spawn({
        let host = Arc::clone(host);
        async move { host.person_answers("r1").await }
    });
    settle().await;
    match answering.is_finished() {
        true => Some(answering.await.expect("it ends")),
        false => {
            answering.abort();
            None
        }
    }
}

/// Why a request was taken back.
async fn taken_back(host: &Arc<EditorHost>) -> Option<String> {
    let topic = Topic::new("waitpoints").unwrap();
    let records = host.facts.log.read_range(&topic, None, 10).await.unwrap();
    let (_, event) = records.into_iter().next()?;
    assert_eq!(
        (&*event.kind, &event.payload["id"]),
        ("waitpoint.cancelled", &json!("r1"))
    );
    Some(event.payload["reason"].as_str().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_question_that_fits_is_a_form() {
    let peer = FakePeer::new(forms(), |_, _| {
        Reply::Ok(json!({"action": "accept", "content": {"answer": "blue"}}))
    });
    let host = host(&peer).await;
    let asked = notice("question", json!({"schema": null, "default": null}));
    let said = answer(&host, asked).await;
    assert_eq!(said, Some(json!({"answer": "blue", "reviewer": "user"})));
    assert_eq!(
        peer.last(),
        json!({
            "mode": "form", "sessionId": "s", "message": "Which?",
            "requestedSchema": {
                "type": "object", "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
            },
            "_meta": {"harn": {"requestId": "r1"}},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn an_approval_by_anybody_is_a_form_too() {
    for (reply, expected) in [
        (
            json!({"action": "accept", "content": {"approved": true}}),
            json!({"approved": true, "reviewer": "user"}),
        ),
        (
            json!({"action": "cancel"}),
            json!({"approved": false, "reviewer": "user", "reason": "the form was dismissed"}),
        ),
    ] {
        let peer = FakePeer::new(forms(), move |_, _| Reply::Ok(reply.clone()));
        let host = host(&peer).await;
        let said = answer(&host, notice("approval", json!({"quorum": 1}))).await;
        assert_eq!(said, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_is_dismissed_takes_the_question_back() {
    for action in ["decline", "cancel"] {
        let peer = FakePeer::new(forms(), move |_, _| Reply::Ok(json!({"action": action})));
        let host = host(&peer).await;
        assert_eq!(answer(&host, notice("question", json!({}))).await, None);
        assert_eq!(
            taken_back(&host).await.as_deref(),
            Some("the form was dismissed")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_stays_open_while_its_readers_come_and_go() {
    let peer = FakePeer::new(forms(), |_, _| Reply::Never);
    let host = host(&peer).await;
    host.notify(NOTICE, notice("question", json!({})));
    for _ in 0..3 {
        let mut answering = host.person_answers("r1");
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(answering.as_mut().poll(&mut context).is_pending());
    }
    assert_eq!(peer.methods(), ["elicitation/create"]);
    assert_eq!(peer.withdrawn(), Vec::<String>::new());
    host.notify(RESOLVED, json!({"requestId": "r1"}));
    assert_eq!(peer.withdrawn(), ["elicitation/create"]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_asked_on_a_page() {
    let peer = FakePeer::new(pages(), |_, _| Reply::Ok(json!({"action": "accept"})));
    let host = host(&peer).await;
    let asked = notice(
        "question",
        json!({"secret": true, "url": "https://example.com/pay"}),
    );
    let said = answer(&host, asked).await;
    assert_eq!(said, Some(json!({"answer": true, "reviewer": "user"})));
    assert_eq!(
        peer.last(),
        json!({
            "mode": "url", "sessionId": "s", "elicitationId": "r1",
            "url": "https://example.com/pay", "message": "Which?",
        })
    );
    host.notify("elicitation/complete", json!({"elicitationId": "r1"}));
    let done = json!({"elicitationId": "r1"});
    assert_eq!(peer.told(), [("elicitation/complete".to_owned(), done)]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_never_asked_in_a_form_and_never_passed_to_the_bridge() {
    let can = json!({
        "elicitation": {"form": {}}, "_meta": {"harn": {"bridge": {"version": 1}}},
    });
    for metadata in [
        json!({"secret": true}),
        json!({"url": "https://example.com"}),
    ] {
        let peer = FakePeer::new(can.clone(), |_, _| Reply::Ok(json!({"action": "accept"})));
        let host = host(&peer).await;
        assert_eq!(answer(&host, notice("question", metadata)).await, None);
        let reason = "it is a secret, and the client opens no pages to ask for it";
        assert_eq!(taken_back(&host).await.as_deref(), Some(reason));
        assert_eq!((peer.methods(), peer.told()), (Vec::new(), Vec::new()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_is_opened_only_by_clients_that_open_pages() {
    let peer = FakePeer::new(forms(), |_, _| Reply::Ok(json!({"action": "accept"})));
    let host = host(&peer).await;
    let asked = json!({"mode": "url", "url": "https://example.com", "message": "Sign in"});
    let opened = host.request("elicitation/create", asked).await;
    assert_eq!(
        opened,
        Err(HostError::Lacking("the client opens no pages".to_owned()))
    );
    assert_eq!(peer.methods(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn tool_servers_ask_in_forms_that_name_them() {
    let peer = FakePeer::new(forms(), |_, _| {
        Reply::Ok(json!({"action": "accept", "content": {"n": 1}}))
    });
    let host = host(&peer).await;
    assert_eq!(
        host.elicits(Some("s")),
        Elicits {
            forms: true,
            urls: false
        }
    );
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let asked = json!({"message": "How many?", "requestedSchema": schema, "server": "shop"});
    let answer = host.request("elicitation/create", asked).await;
    assert_eq!(answer, Ok(json!({"action": "accept", "content": {"n": 1}})));
    assert_eq!(
        peer.last(),
        json!({
            "mode": "form", "sessionId": "s", "message": "How many?", "requestedSchema": schema,
            "_meta": {"harn": {"server": "shop"}},
        })
    );
    let nobody = FakePeer::new(json!({}), |_, _| Reply::Never);
    let host = super::host(&nobody).await;
    assert_eq!(host.elicits(None), Elicits::default());
    let refused = host
        .request("elicitation/create", json!({"message": "?"}))
        .await;
    assert_eq!(
        refused,
        Err(HostError::Lacking("the client shows no forms".to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_no_form_goes_to_the_bridge() {
    let peer = FakePeer::new(bridge(), |_, _| Reply::Never);
    let host = host(&peer).await;
    let asked = notice("dual_control", json!({"n": 2, "m": 3}));
    assert_eq!(answer(&host, asked.clone()).await, None);
    assert_eq!(peer.told(), [("_harn/hitl/requested".to_owned(), asked)]);
    // A form that cannot be shown does as well.
    let can = json!({"elicitation": {"form": {}}, "_meta": {"harn": {"bridge": {"version": 1}}}});
    let peer = FakePeer::new(can, |_, _| Reply::Err(-32601));
    let host = super::host(&peer).await;
    assert_eq!(answer(&host, notice("question", json!({}))).await, None);
    assert_eq!(peer.told()[0].0, "_harn/hitl/requested");
}

/// A host whose log has a request.
async fn asked(kind: RequestKind, more: Value) -> Arc<EditorHost> {
    let facts = facts(Vec::new());
    let mut payload = json!({
        "request_id": "r1", "request_kind": kind.name(), "agent": "harn", "prompt": "?",
        "trace_id": "t", "timestamp": "2026-01-01T00:00:00.000Z", "approvers": [], "metadata": {},
    });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let event = LogEvent::at(kind.asked(), payload, NOW);
    let event = event.with_header(headers::DEADLINE, "2026-01-02T00:00:00Z");
    let topic = Topic::new(kind.topic()).unwrap();
    facts.log.append(&topic, event).await.unwrap();
    host_with(&FakePeer::new(json!({}), |_, _| Reply::Never), facts).await
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_wins_and_later_ones_are_told_of_it() {
    let host = asked(RequestKind::Question, json!({})).await;
    let respond = |answer: &str, reviewer: &str| {
        let parameters = json!({"requestId": "r1", "answer": answer, "reviewer": reviewer});
        let host = Arc::clone(&host);
        async move { handle_extension(&host, Told::Respond, &parameters, &operator()).await }
    };
    let first = respond("blue", "ada").await;
    assert_eq!(first, Ok(json!({"requestId": "r1", "outcome": "recorded"})));
    let second = respond("red", "bob").await.expect_err("it comes too late");
    assert_eq!(second.code, -32602);
    let outcome = &second.data.expect("it says what came of it")["outcome"];
    assert_eq!(outcome["state"], "answered");
    assert_eq!(outcome["responses"][0]["answer"], "blue");
    assert_eq!(outcome["responses"][0]["reviewer"], "ada");
}

#[tokio::test(start_paused = true)]
async fn two_people_are_two_people() {
    let host = asked(
        RequestKind::DualControl,
        json!({"metadata": {"n": 2, "m": 3}}),
    )
    .await;
    let approve = |reviewer: &str| {
        let parameters = json!({"requestId": "r1", "approved": true, "reviewer": reviewer});
        let host = Arc::clone(&host);
        async move { handle_extension(&host, Told::Respond, &parameters, &operator()).await }
    };
    assert!(approve("ada").await.is_ok());
    let again = approve("ada").await.expect_err("she has approved");
    assert_eq!(again.code, -32602);
    assert_eq!(again.data.unwrap()["outcome"]["state"], "open");
    assert!(approve("bob").await.is_ok());
    let third = approve("eve").await.expect_err("it is decided");
    assert_eq!(
        third.data.unwrap()["outcome"]["responses"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_deadline_does_not_count() {
    let host = asked(RequestKind::Approval, json!({})).await;
    let mut facts = host.facts.clone();
    facts.now = Arc::new(|| NOW + 24 * 60 * 60 * 1000);
    let later = host_with(&FakePeer::new(json!({}), |_, _| Reply::Never), facts).await;
    let parameters = json!({"requestId": "r1", "approved": true, "reviewer": "ada"});
    let late = handle_extension(&later, Told::Respond, &parameters, &operator()).await;
    let late = late.expect_err("it is too late");
    assert_eq!(
        (late.code, &late.data.unwrap()["outcome"]["state"]),
        (-32602, &json!("timeout"))
    );
}

#[tokio::test(start_paused = true)]
async fn answers_that_make_no_sense_are_refused() {
    let host = asked(RequestKind::Escalation, json!({})).await;
    let rows = [
        (json!({"answer": 1}), -32602),
        (json!({"requestId": "r1"}), -32602),
        (json!({"requestId": "r1", "accepted": "yes"}), -32602),
        (
            json!({"requestId": "r1", "accepted": true, "approved": true}),
            -32602,
        ),
        (json!({"requestId": "r1", "answer": "x"}), -32602),
        (json!({"requestId": "unknown", "answer": "x"}), -32002),
    ];
    for (parameters, code) in rows {
        let refused = handle_extension(&host, Told::Respond, &parameters, &operator()).await;
        assert_eq!(
            refused.expect_err("it is refused").code,
            code,
            "{parameters}"
        );
    }
    let accepted = json!({"requestId": "r1", "accepted": true});
    assert!(
        handle_extension(&host, Told::Respond, &accepted, &operator())
            .await
            .is_ok()
    );
}
