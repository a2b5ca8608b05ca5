//! Sessions that are closed while somebody wants something of them.

use std::fs::File;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, Scene, Setting};

/// A program that does not hear that it is cancelled, because it waits in the system.
const HANGS: &str = "pipeline answer(prompt, session_id) {\n\
                     if prompt == \"hang\" { read_file(\"pipe\") }\nreturn \"fine\"\n}";

/// A session whose turn does not stop for a while. The file holds it; dropping it lets it go.
async fn hanging() -> (Scene, Client, String, File) {
    let scene = Scene::of(Setting {
        program: HANGS,
        ..Setting::default()
    });
    let pipe = scene.file("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.begin(&session, "hang").await;
    // Whoever opens a pipe to write waits for somebody who reads.
    let opened = tokio::task::spawn_blocking(move || File::options().write(true).open(pipe));
    let pipe = opened.await.unwrap().unwrap();
    (scene, client, session, pipe)
}

fn naming(session: &str, cwd: &Path) -> Value {
    json!({"sessionId": session, "cwd": cwd, "mcpServers": []})
}

#[tokio::test]
async fn a_request_that_is_withdrawn_is_answered_so_and_at_once() {
    let (scene, mut client, session, _pipe) = hanging().await;
    let close = client.ask("session/close", json!({"sessionId": session}));
    let close = close.await;
    // Whoever wants the session waits until it is closed.
    let resume = client.ask("session/resume", naming(&session, &scene.cwd()));
    let resume = resume.await;
    client
        .tell("$/cancel_request", json!({"requestId": resume}))
        .await;
    let refused = client.answer(resume).await.unwrap_err();
    assert_eq!(refused["code"], -32800);
    let mut seen = client.seen.iter();
    assert!(!seen.any(|one| one["id"] == close && one.get("result").is_some()));
    client.answer(close).await.unwrap();
}

#[tokio::test]
async fn a_session_that_is_being_closed_takes_no_prompt_and_can_be_opened_again() {
    let (scene, mut client, session, _pipe) = hanging().await;
    let close = client.ask("session/close", json!({"sessionId": session}));
    let close = close.await;
    let prompt = client.begin(&session, "go on").await;
    let mode = json!({"sessionId": session, "configId": "model", "value": "gpt-4o"});
    let choose = client.ask("session/set_config_option", mode).await;
    let resume = client.ask("session/resume", naming(&session, &scene.cwd()));
    let resume = resume.await;
    for refused in [prompt, choose] {
        let refused = client.answer(refused).await.unwrap_err();
        assert_eq!(refused["code"], -32002);
        assert_eq!(refused["data"]["sessionId"], session);
    }
    client.answer(close).await.unwrap();
    client.answer(resume).await.unwrap();
    // It is another one, which nobody closes any more.
    client.prompt(&session, "go on").await.unwrap();
    assert_eq!(client.said(&session), "fine");
}

#[tokio::test]
async fn a_close_that_is_withdrawn_goes_on() {
    let (scene, mut client, session, _pipe) = hanging().await;
    let close = client.ask("session/close", json!({"sessionId": session}));
    let close = close.await;
    client
        .tell("$/cancel_request", json!({"requestId": close}))
        .await;
    let refused = client.answer(close).await.unwrap_err();
    assert_eq!(refused["code"], -32800);
    let resumed = client.call("session/resume", naming(&session, &scene.cwd()));
    resumed.await.unwrap();
    client.prompt(&session, "go on").await.unwrap();
    assert_eq!(client.said(&session), "fine");
}

#[tokio::test]
async fn a_session_that_is_being_deleted_cannot_be_loaded() {
    let (scene, mut client, session, _pipe) = hanging().await;
    let delete = client.ask("session/delete", json!({"sessionId": session}));
    let delete = delete.await;
    let load = client.ask("session/load", naming(&session, &scene.cwd()));
    let load = load.await;
    client.answer(delete).await.unwrap();
    let refused = client.answer(load).await.unwrap_err();
    assert_eq!(refused["code"], -32002);
    let listed = client.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"], json!([]));
}

#[tokio::test]
async fn a_session_that_somebody_else_has_closed_is_gone() {
    let scene = Scene::of(Setting::default());
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    let mut second = scene.client().await;
    let resumed = second.call("session/resume", naming(&session, &scene.cwd()));
    resumed.await.unwrap();
    let closed = second.call("session/close", json!({"sessionId": session}));
    closed.await.unwrap();
    let refused = first.prompt(&session, "Hi").await.unwrap_err();
    assert_eq!(refused["code"], -32002);
    let input = json!({"sessionId": session, "content": "Hi"});
    let refused = first.call("_harn/session/input", input).await.unwrap_err();
    assert_eq!(refused["code"], -32002);
}
