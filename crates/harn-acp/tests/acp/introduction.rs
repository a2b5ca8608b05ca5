//! `initialize`: what both sides can do.

use serde_json::{Value, json};

use crate::client::{Scene, Setting};

#[tokio::test]
async fn the_agent_says_what_it_can_do() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.stranger();
    let parameters = json!({"protocolVersion": 1, "clientCapabilities": {}});
    let said = client.call("initialize", parameters).await.unwrap();
    assert_eq!(said["protocolVersion"], 1);
    assert_eq!(said["agentInfo"]["name"], "harn");
    assert_eq!(said["authMethods"], json!([]));
    let can = &said["agentCapabilities"];
    assert_eq!(can["loadSession"], true);
    assert_eq!(can["promptCapabilities"]["embeddedContext"], true);
    assert_eq!(can["mcpCapabilities"], json!({"http": true, "sse": false}));
    for name in [
        "list",
        "resume",
        "close",
        "delete",
        "fork",
        "additionalDirectories",
    ] {
        assert_eq!(can["sessionCapabilities"][name], json!({}), "{name}");
    }
    let harn = &can["_meta"]["harn"];
    for name in [
        "extensionNotifications",
        "extensionMethods",
        "sessionUpdateKinds",
        "toolCallMeta",
    ] {
        assert!(harn[name].is_array(), "{name}");
    }
    assert!(harn["bridge"].is_u64() && harn["eventCatalogue"].is_u64());
    assert!(
        can.get("auth").is_none(),
        "nobody can sign in, so nobody can sign out"
    );
}

#[tokio::test]
async fn whoever_asks_for_another_version_is_told_ours() {
    let scene = Scene::of(Setting::default());
    for version in [0, 2, 999] {
        let mut client = scene.stranger();
        let said = client
            .call("initialize", json!({"protocolVersion": version}))
            .await;
        assert_eq!(said.unwrap()["protocolVersion"], 1, "{version}");
    }
}

#[tokio::test]
async fn nothing_is_answered_before_the_introduction() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.stranger();
    for method in [
        "session/new",
        "session/prompt",
        "session/list",
        "authenticate",
        "_x/y",
    ] {
        let refused = client.call(method, json!({})).await.unwrap_err();
        assert_eq!(refused["code"], -32600, "{method}");
    }
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await
        .unwrap();
    client.session(&scene.cwd()).await;
}

#[tokio::test]
async fn a_second_introduction_changes_nothing_else() {
    let scene = Scene::new("[[turn]]\ntext = \"Still here.\"\n");
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await
        .unwrap();
    client.prompt(&session, "Hi").await.unwrap();
    assert_eq!(client.said(&session), "Still here.");
}

#[tokio::test]
async fn what_is_forgotten_cannot_be_loaded() {
    let scene = Scene::of(Setting {
        is_ephemeral: true,
        ..Setting::default()
    });
    let mut client = scene.stranger();
    let said = client
        .call("initialize", json!({"protocolVersion": 1}))
        .await
        .unwrap();
    let can = &said["agentCapabilities"];
    assert_eq!(can["loadSession"], false);
    assert_eq!(
        can["sessionCapabilities"],
        json!({"additionalDirectories": {}})
    );
    let session = client.session(&scene.cwd()).await;
    for method in ["load", "resume", "fork", "list", "close", "delete"] {
        let method = format!("session/{method}");
        let parameters = json!({"sessionId": session, "cwd": scene.cwd(), "mcpServers": []});
        let refused: Value = client.call(&method, parameters).await.unwrap_err();
        assert_eq!(refused["code"], -32601, "{method}");
    }
}
