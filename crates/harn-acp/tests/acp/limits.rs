//! Limits and rules: what happens beyond them, and that it is counted.

use harn_acp::{Network, SessionLimits};
use serde_json::json;
use tokio::sync::oneshot;

use crate::client::{Scene, Setting};
use crate::network::{Remote, listen_until};

/// A model that runs a command which takes half a minute.
const WAITS: &str =
    "[[turn]]\ncall = [{ tool = \"run\", arguments = { command = \"sleep 30\" } }]\n";

fn few_sessions() -> Scene {
    let mut limits = SessionLimits::default();
    assert!(limits.set("sessions", 1));
    Scene::of(Setting {
        limits,
        scenario: WAITS,
        ..Setting::default()
    })
}

/// How often something was met.
fn count(counted: &[(&'static str, u64)], name: &str) -> u64 {
    let mut counted = counted.iter();
    let found = counted.find(|(known, _)| *known == name);
    found.expect("it has a counter").1
}

#[tokio::test]
async fn a_session_too_many_is_refused_until_another_one_is_closed() {
    let scene = few_sessions();
    let mut client = scene.client().await;
    let first = client.session(&scene.cwd()).await;
    let parameters = json!({"cwd": scene.cwd(), "mcpServers": []});
    for method in ["session/new", "session/fork"] {
        let mut parameters = parameters.clone();
        parameters["sessionId"] = json!(first);
        let refused = client.call(method, parameters).await.unwrap_err();
        assert_eq!(refused["code"], -32603, "{method}");
        assert_eq!(refused["data"]["retryAfterMs"], 1000, "{method}");
    }
    let listed = client.call("session/list", json!({})).await.unwrap();
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "nothing is left of what was refused");
    // Who is there already may come again.
    let mut again = parameters.clone();
    again["sessionId"] = json!(first);
    client.call("session/resume", again).await.unwrap();
    let closing = json!({"sessionId": first});
    client.call("session/close", closing).await.unwrap();
    client.session(&scene.cwd()).await;
}

/// They are being made at the same time, so none is open when the others ask.
#[tokio::test]
async fn of_sessions_that_are_wanted_at_once_only_as_many_are_made_as_there_may_be() {
    let scene = few_sessions();
    let mut client = scene.client().await;
    let parameters = json!({"cwd": scene.cwd(), "mcpServers": []});
    let mut asked = Vec::new();
    for _ in 0..8 {
        asked.push(client.ask("session/new", parameters.clone()).await);
    }
    let mut made = 0;
    for id in asked {
        made += usize::from(client.answer(id).await.is_ok());
    }
    assert_eq!(made, 1);
    let listed = client.call("session/list", json!({})).await.unwrap();
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "nothing is left of what was refused");
}

#[tokio::test]
async fn what_is_refused_and_what_nobody_knows_is_counted() {
    let scene = few_sessions();
    let mut network = Network::default();
    assert!(network.set("requests", 1));
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async { drop(stopped.await) };
    let (url, listening) = listen_until(&scene, network, stopped).await;
    let mut client = Remote::connect(&url).await;
    for (method, parameters) in [
        ("_other/thing", json!({})),
        ("session/dance", json!({"sessionId": "none"})),
        // Those are known, and say nothing.
        ("session/cancel", json!({})),
        ("_harn/session/input", json!({"content": ""})),
    ] {
        client.tell(method, parameters).await;
    }
    // Nothing is wrong with that one: there is nothing to stop.
    client
        .tell("session/cancel", json!({"sessionId": "none"}))
        .await;
    let cwd = json!({"cwd": scene.cwd(), "mcpServers": []});
    let session = client.begin(&scene).await;
    // The prompt is the one request that may be open.
    let refused = client.call("session/new", cwd).await.unwrap_err();
    assert_eq!(refused["code"], -32603);
    assert_eq!(refused["data"]["retryAfterMs"], 1000);
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    drop(stop);
    let counted = listening.await.unwrap();
    assert_eq!(count(&counted, "notifications_dropped"), 4);
    assert_eq!(count(&counted, "overload"), 1);
    assert_eq!(count(&counted, "sessions_refused"), 0);
}

#[tokio::test]
async fn sessions_that_are_refused_are_counted() {
    let scene = few_sessions();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async { drop(stopped.await) };
    let (url, listening) = listen_until(&scene, Network::default(), stopped).await;
    let mut client = Remote::connect(&url).await;
    let cwd = json!({"cwd": scene.cwd(), "mcpServers": []});
    client.call("session/new", cwd.clone()).await.unwrap();
    client.call("session/new", cwd).await.unwrap_err();
    drop(stop);
    let counted = listening.await.unwrap();
    assert_eq!(count(&counted, "sessions_refused"), 1);
    assert_eq!(count(&counted, "permissions_refused"), 0);
}
