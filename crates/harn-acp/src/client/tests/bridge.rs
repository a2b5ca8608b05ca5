//! The host bridge.

use std::sync::Arc;

use harn_vm::agent::{HostBridge, HostError};
use serde_json::{Value, json};

use super::{FakePeer, Reply, bridge, host, settle};

async fn answer(can: Value, reply: fn() -> Reply) -> (Result<Value, HostError>, Arc<FakePeer>) {
    let peer = FakePeer::new(can, move |_, _| reply());
    let host = host(&peer).await;
    let answer = host.request("builtin_call", json!({"name": "t", "args": [{}]}));
    (answer.await, peer)
}

#[tokio::test(start_paused = true)]
async fn a_client_without_the_bridge_is_never_sent_any_of_it() {
    let (answer, peer) = answer(json!({"terminal": true}), || Reply::Ok(json!(1))).await;
    assert_eq!(
        answer,
        Err(HostError::Lacking(
            "no host lends `builtin_call`".to_owned()
        ))
    );
    let host = host(&peer).await;
    assert!(!host.lends_tools());
    let methods = [
        "host/capabilities",
        "host/call",
        "host/tools/list",
        "tool_search/query",
        "skills/list",
        "skills/fetch",
        "skill/match",
    ];
    for method in methods {
        assert!(host.request(method, json!({})).await.is_err());
    }
    host.notify("agent/idle", json!({"iteration": 1, "backoff_ms": 100}));
    assert_eq!(host.list_skills().await, Vec::<Value>::new());
    assert_eq!((peer.methods(), peer.told()), (Vec::new(), Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn names_are_canonical_unless_the_host_wants_the_older_ones() {
    let older = json!({"_meta": {"harn": {"bridge": {"version": 1, "legacyNames": true}}}});
    let rows = [
        ("host/capabilities", "_harn/host/capabilities"),
        ("host/call", "_harn/host/call"),
        ("builtin_call", "_harn/host/builtin"),
        ("host/tools/list", "_harn/host/tools/list"),
        ("tool_search/query", "_harn/tool_search"),
        ("skills/list", "_harn/skills/list"),
        ("skills/fetch", "_harn/skills/fetch"),
        ("skill/match", "_harn/skills/match"),
    ];
    let canonical = FakePeer::new(bridge(), |_, _| Reply::Ok(json!(1)));
    let legacy = FakePeer::new(older, |_, _| Reply::Ok(json!(1)));
    for peer in [&canonical, &legacy] {
        let host = host(peer).await;
        for (method, _) in rows {
            assert_eq!(host.request(method, json!({"x": 1})).await, Ok(json!(1)));
            assert_eq!(peer.last(), json!({"x": 1, "sessionId": "s"}));
        }
        host.notify(
            "agent/idle",
            json!({"iteration": 3, "backoff_ms": 500, "watch_paths": []}),
        );
    }
    assert_eq!(canonical.methods(), rows.map(|(_, name)| name));
    assert_eq!(legacy.methods(), rows.map(|(name, _)| name));
    let idle = json!({"sessionId": "s", "iteration": 3, "backoffMs": 500});
    assert_eq!(
        canonical.told(),
        [("_harn/agent/idle".to_owned(), idle.clone())]
    );
    assert_eq!(legacy.told(), [("agent/idle".to_owned(), idle)]);
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_host_have_a_meaning() {
    let rows: [(fn() -> Reply, HostError); 4] = [
        (
            || Reply::Err(-32001),
            HostError::Refused("error -32001".to_owned()),
        ),
        (
            || Reply::Err(-32601),
            HostError::Lacking("error -32601".to_owned()),
        ),
        (
            || Reply::Err(7150),
            HostError::Failed {
                code: Some(7150),
                message: "error 7150".to_owned(),
            },
        ),
        (
            || Reply::Gone,
            HostError::Failed {
                code: Some(-32000),
                message: "the client has closed the connection".to_owned(),
            },
        ),
    ];
    for (reply, expected) in rows {
        let (answer, peer) = answer(bridge(), reply).await;
        assert_eq!(answer, Err(expected));
        // Nobody is asked twice: the host may have done it.
        assert_eq!(peer.methods().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn results_may_be_wrapped() {
    let wrapped = |reply| answer(bridge(), reply);
    assert_eq!(
        wrapped(|| Reply::Ok(json!({"result": 1}))).await.0,
        Ok(json!(1))
    );
    assert_eq!(
        wrapped(|| Reply::Ok(json!({"result": null, "_meta": {}})))
            .await
            .0,
        Ok(Value::Null)
    );
    let other = json!({"result": 1, "more": 2});
    assert_eq!(
        wrapped(|| Reply::Ok(json!({"result": 1, "more": 2})))
            .await
            .0,
        Ok(other)
    );
    assert_eq!(wrapped(|| Reply::Ok(json!({}))).await.0, Ok(json!({})));
}

#[tokio::test(start_paused = true)]
async fn a_host_has_five_minutes_unless_it_wants_other_times() {
    let (answer, peer) = answer(bridge(), || Reply::Never).await;
    let text = "the host has not answered `builtin_call` within 300 seconds";
    assert_eq!(answer, Err(HostError::TimedOut(text.to_owned())));
    assert_eq!(peer.withdrawn(), ["_harn/host/builtin"]);
    let times = json!({"version": 1, "timeoutsMs": {"_harn/host/builtin": 1500}});
    let can = json!({"_meta": {"harn": {"bridge": times}}});
    let (answer, _) = self::answer(can, || Reply::Never).await;
    let text = "the host has not answered `builtin_call` within 1.5 seconds";
    assert_eq!(answer, Err(HostError::TimedOut(text.to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_turn_that_is_cancelled_is_withdrawn() {
    let peer = FakePeer::new(bridge(), |_, _| Reply::Never);
    let host = host(&peer).await;
    let asking = tokio::spawn(async move { host.request("host/call", json!({})).await });
    settle().await;
    asking.abort();
    settle().await;
    assert_eq!(peer.withdrawn(), ["_harn/host/call"]);
}

#[tokio::test(start_paused = true)]
async fn skills_come_as_a_list_or_in_one() {
    let skill = json!({"id": "h1", "name": "lent", "description": "d", "source": "host"});
    for answer in [
        json!([skill]),
        json!({"skills": [skill]}),
        json!({"result": [skill]}),
    ] {
        let peer = FakePeer::new(bridge(), move |_, _| Reply::Ok(answer.clone()));
        assert_eq!(
            host(&peer).await.list_skills().await,
            std::slice::from_ref(&skill)
        );
    }
    let peer = FakePeer::new(bridge(), |_, _| Reply::Err(-32603));
    assert_eq!(host(&peer).await.list_skills().await, Vec::<Value>::new());
}
