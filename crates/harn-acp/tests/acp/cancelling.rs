//! Cancellation: of turns, of requests, and by leaving.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Scene, Setting};

/// A model that runs a command which takes half a minute.
const WAITS: &str =
    "[[turn]]\ncall = [{ tool = \"run\", arguments = { command = \"sleep 30\" } }]\n";

/// Within this time a cancelled turn is answered.
const SOON: Duration = Duration::from_secs(2);

async fn waiting(client: &mut Client, session: &str) -> u64 {
    let id = client.begin(session, "Wait").await;
    let is_running = |message: &Value| message["params"]["update"]["status"] == "in_progress";
    client.until(is_running).await;
    id
}

#[tokio::test]
async fn a_second_prompt_is_refused_while_a_turn_runs() {
    let scene = Scene::new(WAITS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let first = waiting(&mut client, &session).await;
    let refused = client.prompt(&session, "More").await.unwrap_err();
    assert_eq!(refused["code"], -32602);
    assert_eq!(refused["data"]["reason"], "turn_running");
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let answer = client.answer(first).await.unwrap();
    assert_eq!(answer["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_cancelled_turn_settles_its_calls_and_is_answered_soon() {
    let scene = Scene::new(WAITS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = waiting(&mut client, &session).await;
    let cancelled = Instant::now();
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let answer = client.answer(turn).await.unwrap();
    assert!(cancelled.elapsed() < SOON, "{:?}", cancelled.elapsed());
    assert_eq!(answer["stopReason"], "cancelled");
    assert_eq!(answer["_meta"]["harn"]["outcome"], "cancelled");
    let updates = client.updates(&session);
    let ends: Vec<_> = updates
        .iter()
        .filter(|one| one["status"] == "failed")
        .collect();
    assert_eq!(ends.len(), 1, "{updates:#?}");
    assert_eq!(ends[0]["_meta"]["harn"]["errorCategory"], "cancelled");
}

#[tokio::test]
async fn a_session_goes_on_after_it_was_cancelled() {
    let scene = Scene::new(
        "[[turn]]\nwhen = \"Wait\"\ncall = [{ tool = \"run\", arguments = { command = \"sleep 30\" } }]\n\
         [[turn]]\nwhen = \"Go on\"\ntext = \"Gladly.\"\n",
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = waiting(&mut client, &session).await;
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    client.answer(turn).await.unwrap();
    let answer = client.prompt(&session, "Go on").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(client.said(&session), "Gladly.");
}

#[tokio::test]
async fn a_turn_that_was_just_asked_for_can_be_cancelled() {
    let scene = Scene::new(WAITS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Wait").await;
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let answer = client.answer(turn).await.unwrap();
    assert_eq!(answer["stopReason"], "cancelled");
}

#[tokio::test]
async fn cancelling_an_idle_session_does_nothing() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let answer = client.prompt(&session, "Hi").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
}

#[tokio::test]
async fn a_prompt_that_is_withdrawn_is_a_turn_that_is_cancelled() {
    let scene = Scene::new(WAITS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = waiting(&mut client, &session).await;
    client
        .tell("$/cancel_request", json!({"requestId": turn}))
        .await;
    let answer = client.answer(turn).await.unwrap();
    assert_eq!(answer["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_program_that_ignores_it_is_abandoned_and_reported() {
    // It computes and never waits; whether it stops in time is its own affair.
    let program = "pipeline answer(prompt, session_id) {\n\
                   if prompt == \"hang\" { read_file(\"pipe\") }\nreturn \"fine\"\n}";
    let scene = Scene::of(Setting {
        program,
        ..Setting::default()
    });
    // Nobody ever writes to the pipe, so whoever opens it to read waits in the system.
    let made = std::process::Command::new("mkfifo")
        .arg(scene.file("pipe"))
        .status();
    assert!(made.unwrap().success());
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "hang").await;
    let cancelled = Instant::now();
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let answer = client.answer(turn).await.unwrap();
    assert!(cancelled.elapsed() < SOON, "{:?}", cancelled.elapsed());
    assert_eq!(answer["stopReason"], "cancelled");
    let answer = client.prompt(&session, "go on").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(client.said(&session), "fine");
}

#[tokio::test]
async fn whoever_leaves_cancels_their_turns_and_can_come_back() {
    let scene = Scene::new(WAITS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = waiting(&mut client, &session).await;
    client.leave().await.expect("it ends well");
    let is_answer = |message: &&Value| message["id"] == turn && message.get("result").is_some();
    let answer = client
        .seen
        .iter()
        .find(is_answer)
        .expect("every request is answered");
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let mut client = scene.client().await;
    let parameters = json!({"sessionId": session, "cwd": scene.cwd(), "mcpServers": []});
    client.call("session/resume", parameters).await.unwrap();
}
