//! Turns: what is written, what comes back, and why it ends.

use serde_json::json;

use crate::client::Scene;

#[tokio::test]
async fn a_prompt_is_answered_after_all_of_its_updates() {
    let scene = Scene::new("[[turn]]\ntext = \"Good morning to you.\"\n");
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let answer = client.prompt(&session, "Hi").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(client.said(&session), "Good morning to you.");
    let seen = client.seen.len();
    client.leave().await.unwrap();
    assert_eq!(client.seen.len(), seen, "nothing comes after the answer");
}

#[tokio::test]
async fn a_second_prompt_is_refused_while_a_turn_runs() {
    let scene = Scene::new(
        "[[turn]]\ncall = [{ tool = \"run\", arguments = { command = \"sleep 30\" } }]\n",
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let first = client.begin(&session, "Wait").await;
    let refused = client.prompt(&session, "More").await.unwrap_err();
    assert_eq!(refused["code"], -32602);
    assert_eq!(refused["data"]["reason"], "turn_running");
    client.tell("session/cancel", json!({"sessionId": session})).await;
    let answer = client.answer(first).await.unwrap();
    assert_eq!(answer["stopReason"], "cancelled");
}
