//! Sessions that wait for people.

use std::collections::BTreeMap;

use harn_agent::people::{AskedPerson, Outcome, Request, RequestKind};
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage};

fn request(id: &str, kind: RequestKind) -> Request {
    let payload = json!({"request_id": id, "request_kind": kind.name(), "prompt": "?"});
    Request::new(kind, payload, BTreeMap::new())
}

#[tokio::test(start_paused = true)]
async fn a_request_is_opened_and_closed_once_whatever_comes_of_it() {
    let stage = Stage::proving(&["hitl_requested", "hitl_resolved"], &[]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let ways = [
        (Some(Outcome::Answered), "answered"),
        (Some(Outcome::TimedOut), "timeout"),
        (Some(Outcome::Cancelled), "cancelled"),
        // Who waits is dropped.
        (None, "cancelled"),
    ];
    for (kind, (outcome, word)) in RequestKind::ALL.into_iter().zip(ways) {
        let id = format!("hitl_{kind}_1");
        let request = request(&id, kind);
        let asked = AskedPerson::ask(&stage.runtime, SESSION, &request);
        match outcome {
            Some(outcome) => asked.resolve(outcome),
            None => drop(asked),
        }
        stage.runtime.settle_session(SESSION).await;
        let mut told = stage.events();
        let resolved = told.pop().unwrap();
        assert_eq!(
            told.pop().unwrap(),
            json!({
                "type": "hitl_requested", "session_id": SESSION, "request_id": id,
                "kind": kind.name(), "payload": request.payload,
            })
        );
        assert_eq!(
            resolved,
            json!({
                "type": "hitl_resolved", "session_id": SESSION, "request_id": id,
                "kind": kind.name(), "outcome": word,
            })
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_of_an_earlier_process_is_not_told_twice() {
    let stage = Stage::proving(&["hitl_requested", "hitl_resolved"], &[]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let first = request("hitl_question_1", RequestKind::Question);
    // What was told is in the log; a process that dies does not come to tell of the end.
    let asked = AskedPerson::ask(&stage.runtime, SESSION, &first);
    stage.runtime.settle_session(SESSION).await;
    std::mem::forget(asked);
    let again = AskedPerson::ask_again(&stage.runtime, SESSION, &first).await;
    again.resolve(Outcome::Answered);
    // What was not told is told now.
    let second = request("hitl_question_2", RequestKind::Question);
    let asked = AskedPerson::ask_again(&stage.runtime, SESSION, &second).await;
    asked.resolve(Outcome::TimedOut);
    stage.runtime.settle_session(SESSION).await;
    let ids = |kind: &str| -> Vec<Value> {
        let events = stage.of_type(kind);
        events
            .iter()
            .map(|event| event["request_id"].clone())
            .collect()
    };
    let both = [json!("hitl_question_1"), json!("hitl_question_2")];
    assert_eq!(ids("hitl_requested"), both);
    assert_eq!(ids("hitl_resolved"), both);
}
