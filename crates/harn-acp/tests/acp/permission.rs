//! What the agent asks of the client, and what the client says to an agent at work.

use serde_json::{Value, json};

use crate::client::{Client, Scene, Setting};

/// A program that asks before it writes.
const ASKS: &str = "pipeline answer(prompt, session_id) {\n\
                    agent_loop(prompt, \"You write.\", {session_id: session_id, \
                    tools: coding_tools(), approval_policy: {require_approval: [\"write\"]}})\n}";

const WRITES: &str = "[[turn]]\ncall = [{ tool = \"write\", arguments = { path = \"a.txt\", \
                      content = \"new\" } }]\n[[turn]]\ntext = \"Done.\"\nrepeat = true\n";

fn asking() -> Scene {
    Scene::of(Setting {
        program: ASKS,
        scenario: WRITES,
        ..Setting::default()
    })
}

fn ends(client: &Client, session: &str, status: &str) -> usize {
    let updates = client.updates(session);
    updates.iter().filter(|one| one["status"] == status).count()
}

#[tokio::test]
async fn a_call_that_is_allowed_is_made() {
    let scene = asking();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Go").await;
    let question = client.asked("session/request_permission").await;
    let parameters = &question["params"];
    assert_eq!(parameters["sessionId"], session);
    let call = &parameters["toolCall"]["toolCallId"];
    let updates = client.updates(&session);
    let is_told = |one: &&Value| one["sessionUpdate"] == "tool_call" && one["toolCallId"] == *call;
    assert!(
        updates.iter().any(|one| is_told(&one)),
        "it is told before it is asked about"
    );
    assert!(!scene.file("a.txt").exists());
    let options = parameters["options"].as_array().unwrap();
    let allow = options
        .iter()
        .find(|one| one["kind"] == "allow_once")
        .unwrap();
    assert!(options.iter().any(|one| one["kind"] == "reject_once"));
    let outcome = json!({"outcome": "selected", "optionId": allow["optionId"]});
    client.reply(&question, json!({"outcome": outcome})).await;
    client.answer(turn).await.unwrap();
    assert_eq!(std::fs::read_to_string(scene.file("a.txt")).unwrap(), "new");
    assert_eq!(client.said(&session), "Done.");
}

/// Models number their calls from the start in every answer. A question is about the call that
/// the client was told of last.
#[tokio::test]
async fn a_question_names_the_later_of_two_calls_with_one_id() {
    let call = |content: &str| {
        format!(
            "[[turn]]\ncall = [{{ tool = \"write\", id = \"c\", arguments = \
             {{ path = \"a.txt\", content = \"{content}\" }} }}]\n"
        )
    };
    let scenario = format!("{}{}[[turn]]\ntext = \"Done.\"\n", call("one"), call("two"));
    let scene = Scene::of(Setting {
        program: ASKS,
        scenario: &scenario,
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Go").await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let question = client.asked("session/request_permission").await;
        ids.push(question["params"]["toolCall"]["toolCallId"].clone());
        let outcome = json!({"outcome": "selected", "optionId": "allow_once"});
        client.reply(&question, json!({"outcome": outcome})).await;
    }
    client.answer(turn).await.unwrap();
    assert_eq!(json!(ids), json!(["tool-c", "tool-c-2"]));
    let told = client.updates(&session);
    let told = told
        .iter()
        .filter(|one| one["sessionUpdate"] == "tool_call");
    let told: Vec<&Value> = told.map(|one| &one["toolCallId"]).collect();
    assert_eq!(json!(told), json!(ids));
    assert_eq!(std::fs::read_to_string(scene.file("a.txt")).unwrap(), "two");
}

#[tokio::test]
async fn a_call_that_is_not_allowed_is_not_made() {
    let scene = asking();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Go").await;
    let question = client.asked("session/request_permission").await;
    // An option that was not offered is a no.
    let outcome = json!({"outcome": "selected", "optionId": "sure"});
    client.reply(&question, json!({"outcome": outcome})).await;
    let answer = client.answer(turn).await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert!(!scene.file("a.txt").exists());
    assert_eq!(ends(&client, &session, "failed"), 1);
}

#[tokio::test]
async fn a_question_is_withdrawn_when_the_turn_is_cancelled() {
    let scene = asking();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Go").await;
    let question = client.asked("session/request_permission").await;
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let is_withdrawn = |message: &Value| message["method"] == "$/cancel_request";
    let withdrawn = client.until(is_withdrawn).await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let answer = client.answer(turn).await.unwrap();
    assert_eq!(answer["stopReason"], "cancelled");
    assert!(!scene.file("a.txt").exists());
    assert_eq!(ends(&client, &session, "failed"), 1);
}

#[tokio::test]
async fn whoever_leaves_has_not_agreed() {
    let scene = asking();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.begin(&session, "Go").await;
    client.asked("session/request_permission").await;
    client.leave().await.unwrap();
    assert!(!scene.file("a.txt").exists());
}

#[tokio::test]
async fn files_are_written_through_a_client_that_can() {
    let scene = Scene::new(WRITES);
    let can = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut client = scene.client_with(can).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Go").await;
    let question = loop {
        let is_file = |message: &Value| {
            message["method"]
                .as_str()
                .is_some_and(|method| method.starts_with("fs/"))
        };
        let question = client.until(is_file).await;
        if question["method"] == "fs/write_text_file" {
            break question;
        }
        let answer = json!({"jsonrpc": "2.0", "id": question["id"],
            "error": {"code": -32002, "message": "there is none"}});
        client.send(&answer.to_string()).await;
    };
    assert_eq!(question["params"]["path"], json!(scene.file("a.txt")));
    assert_eq!(question["params"]["content"], "new");
    client.reply(&question, json!({})).await;
    client.answer(turn).await.unwrap();
    assert!(!scene.file("a.txt").exists(), "the client has it");
}

#[tokio::test]
async fn a_client_that_announces_nothing_is_asked_nothing() {
    let scene = Scene::new(WRITES);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "Go").await.unwrap();
    let questions = client
        .seen
        .iter()
        .filter(|one| one.get("method").is_some() && one.get("id").is_some());
    assert_eq!(questions.count(), 0);
    assert_eq!(std::fs::read_to_string(scene.file("a.txt")).unwrap(), "new");
}

#[tokio::test]
async fn what_is_said_meanwhile_is_heard() {
    let scenario = "[[turn]]\nwhen = \"Go\"\ncall = [{ tool = \"write\", arguments = { \
                    path = \"a.txt\", content = \"new\" } }]\n\
                    [[turn]]\nwhen = \"*hurry*\"\ntext = \"I hurry.\"\n\
                    [[turn]]\ntext = \"Done.\"\nrepeat = true\n";
    let scene = Scene::of(Setting {
        program: ASKS,
        scenario,
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Go").await;
    let question = client.asked("session/request_permission").await;
    let said = json!({"sessionId": session, "content": "Please hurry", "mode": "finish_step"});
    let heard = client.call("_harn/session/input", said).await.unwrap();
    assert!(heard["index"].is_u64(), "{heard}");
    let outcome = json!({"outcome": "selected", "optionId": "allow_once"});
    client.reply(&question, json!({"outcome": outcome})).await;
    client.answer(turn).await.unwrap();
    assert_eq!(client.said(&session), "I hurry.");
    let nobody = json!({"sessionId": "none", "content": "x"});
    let refused = client
        .call("_harn/session/input", nobody)
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32002);
}
