//! One situation, one code.

use std::sync::Arc;

use harn_vm::agent::log::{AnyEventLog, EventLog, MemoryEventLog};
use serde_json::{Value, json};

use crate::client::{Client, Scene, Setting};

#[track_caller]
fn check(refused: &Value, code: i64, says: &str) {
    assert_eq!(refused["code"], code, "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
}

async fn refused(client: &mut Client, method: &str, parameters: Value) -> Value {
    client.call(method, parameters).await.unwrap_err()
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_the_connection_goes_on() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let rows = [
        ("{nonsense", -32700, Value::Null),
        ("17", -32600, Value::Null),
        // Whoever can be told which one it was is told.
        ("{\"jsonrpc\": \"2.0\", \"id\": 7}", -32600, json!(7)),
        (
            "[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"session/list\"}]",
            -32600,
            Value::Null,
        ),
    ];
    for (line, code, id) in rows {
        client.send(line).await;
        let answer = client.read().await;
        assert_eq!(answer["error"]["code"], code, "{line}");
        assert_eq!(answer["id"], id, "{line}");
    }
    client.session(&scene.cwd()).await;
}

#[tokio::test]
async fn methods_that_nobody_knows_are_not_found() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    for method in [
        "authenticate",
        "logout",
        "session/dance",
        "_harn/dance",
        "_other/thing",
    ] {
        let refused = refused(&mut client, method, json!({})).await;
        check(&refused, -32601, method);
    }
    // A notification is never answered.
    client.tell("_other/thing", json!({})).await;
    client
        .tell("session/cancel", json!({"sessionId": "none"}))
        .await;
    client.tell("session/cancel", json!({})).await;
    let seen = client.seen.len();
    client.session(&scene.cwd()).await;
    assert_eq!(client.seen.len(), seen + 1);
}

#[tokio::test]
async fn a_session_works_in_a_folder_that_is_there() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let rows = [
        (json!({}), "`cwd` has to be a path"),
        (json!({"cwd": "relative"}), "has to be an absolute path"),
        (
            json!({"cwd": scene.file("none")}),
            "has to be a folder that exists",
        ),
        (
            json!({"cwd": scene.file("agent.harn")}),
            "has to be a folder that exists",
        ),
        (
            json!({"cwd": scene.cwd(), "additionalDirectories": ["x"]}),
            "`additionalDirectories` has to be an absolute path",
        ),
        (
            json!({"cwd": scene.cwd(), "mcpServers": [{"name": "a", "command": "a"}]}),
            "`command` that is no absolute path",
        ),
    ];
    for (parameters, says) in rows {
        let refused = refused(&mut client, "session/new", parameters).await;
        check(&refused, -32602, says);
    }
}

#[tokio::test]
async fn sessions_that_are_not_there_are_named() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let parameters = json!({
        "sessionId": "none", "cwd": scene.cwd(), "mcpServers": [], "modeId": "x",
        "configId": "model", "value": "x", "prompt": [{"type": "text", "text": "x"}],
    });
    let methods = [
        "load",
        "resume",
        "fork",
        "close",
        "prompt",
        "set_mode",
        "set_config_option",
    ];
    for method in methods {
        let method = format!("session/{method}");
        let refused = refused(&mut client, &method, parameters.clone()).await;
        check(&refused, -32002, "none");
        assert_eq!(refused["data"]["sessionId"], "none", "{method}");
    }
    let deleted = client.call("session/delete", parameters).await;
    assert_eq!(deleted.unwrap(), json!({}), "what is not there is gone");
}

#[tokio::test]
async fn the_block_of_a_prompt_that_is_wrong_is_named() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let prompt = json!([{"type": "text", "text": "x"}, {"type": "audio", "data": "AA=="}]);
    let parameters = json!({"sessionId": session, "prompt": prompt});
    let refused = refused(&mut client, "session/prompt", parameters).await;
    check(&refused, -32602, "block 1");
    client.prompt(&session, "Hi").await.unwrap();
}

#[tokio::test]
async fn a_program_that_throws_ends_the_turn_and_not_the_session() {
    let program = "pipeline answer(prompt, session_id) {\n\
                   if prompt == \"throw\" { throw \"no luck\" }\nreturn \"fine\"\n}";
    let scene = Scene::of(Setting {
        program,
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let refused = client.prompt(&session, "throw").await.unwrap_err();
    check(&refused, -32603, "no luck");
    assert!(
        !refused.to_string().contains("agent.harn"),
        "no path, no trace"
    );
    let answer = client.prompt(&session, "go on").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(client.said(&session), "fine");
}

#[tokio::test]
async fn a_model_that_fails_is_told_with_what_a_program_wants_to_know() {
    let scene = Scene::new(
        "[[turn]]\nwhen = \"fail\"\nerror = { category = \"auth\", message = \"bad key\", \
         status = 401 }\n[[turn]]\ntext = \"Fine.\"\nrepeat = true\n",
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let refused = client.prompt(&session, "fail").await.unwrap_err();
    check(&refused, -32603, "bad key");
    assert_eq!(refused["data"]["category"], "auth");
    assert_eq!(refused["data"]["retryable"], false);
    assert_eq!(refused["data"]["provider"], "openai");
    client.prompt(&session, "again").await.unwrap();
    assert_eq!(client.said(&session), "Fine.");
}

#[tokio::test]
async fn a_tool_that_fails_does_not_end_the_turn() {
    let scene = Scene::new(
        "[[turn]]\ncall = [{ tool = \"read\", arguments = { path = \"none.txt\" } }]\n\
         [[turn]]\ntext = \"There is none.\"\n",
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let answer = client.prompt(&session, "Read").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    let updates = client.updates(&session);
    let ends = updates.iter().filter(|one| one["status"] == "failed");
    assert_eq!(ends.count(), 1, "{updates:#?}");
    assert_eq!(client.said(&session), "There is none.");
}

/// Whether a text is anywhere in a log.
async fn is_kept(log: &AnyEventLog, text: &str) -> bool {
    for topic in log.topics().await.unwrap() {
        let records = log.read_range(&topic, None, 10_000).await.unwrap();
        if records
            .iter()
            .any(|(_, event)| event.payload.to_string().contains(text))
        {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn what_a_client_lends_to_servers_is_told_and_kept_nowhere() {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(1024)));
    let scene = Scene::of(Setting {
        log: Arc::clone(&log),
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let env = json!([{"name": "TOKEN", "value": "s3cret-env"}]);
    let headers = json!([{"name": "Authorization", "value": "Bearer s3cret-header"}]);
    let lent = json!([
        {"name": "gone", "command": scene.file("none"), "args": [], "env": env},
        {"type": "http", "name": "web", "url": "http://127.0.0.1:1/mcp", "headers": headers},
    ]);
    let parameters = json!({"cwd": scene.cwd(), "mcpServers": lent});
    let opened = client.call("session/new", parameters).await.unwrap();
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    client.prompt(&session, "Hi").await.unwrap();
    // The same server twice is refused, by its name alone.
    let twice = json!([lent[0], lent[0]]);
    let parameters = json!({"cwd": scene.cwd(), "mcpServers": twice});
    refused(&mut client, "session/new", parameters).await;
    client.leave().await.unwrap();
    let told = json!(client.seen).to_string();
    let printed = scene.printed.lock().unwrap().clone();
    for place in [&told, &printed] {
        assert!(!place.contains("s3cret"), "{place}");
    }
    assert!(is_kept(&log, "Hi").await, "this would find it");
    assert!(!is_kept(&log, "s3cret").await);
}
