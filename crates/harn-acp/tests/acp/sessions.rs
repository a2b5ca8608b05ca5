//! Sessions: kept, listed, loaded, forked, closed and deleted.

use std::path::Path;
use std::sync::Arc;

use harn_vm::agent::log::{AnyEventLog, EventLogConfig, open_event_log};
use serde_json::{Value, json};

use crate::client::{Client, Scene, Setting};

/// A model that repeats what it hears, twice.
const TALKS: &str = "[[turn]]\nwhen = \"one\"\ntext = \"First.\"\n\
                     [[turn]]\nwhen = \"two\"\ntext = \"Second.\"\n\
                     [[turn]]\ntext = \"More.\"\nrepeat = true\n";

fn naming(session: &str, cwd: &Path) -> Value {
    json!({"sessionId": session, "cwd": cwd, "mcpServers": []})
}

/// What updates say, a line each.
fn lines(updates: &[Value]) -> Vec<String> {
    let lines = updates.iter().filter_map(|one| {
        let text = one["content"]["text"].as_str()?;
        let kind = one["sessionUpdate"].as_str()?;
        Some(format!("{kind}: {text}"))
    });
    lines.collect()
}

/// Pieces of one message, put together.
fn joined(updates: &[Value]) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for line in lines(updates) {
        let (kind, piece) = line.split_once(": ").unwrap();
        if kind != last {
            text.push_str(&format!("\n{kind}: "));
            kind.clone_into(&mut last);
        }
        text.push_str(piece);
    }
    text.trim().to_owned()
}

#[tokio::test]
async fn a_session_that_is_loaded_tells_what_was_said_and_then_answers() {
    let scene = Scene::new(TALKS);
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    first.prompt(&session, "one").await.unwrap();
    first.leave().await.unwrap();
    let mut second = scene.client().await;
    let loaded = second
        .call("session/load", naming(&session, &scene.cwd()))
        .await
        .unwrap();
    assert!(loaded["configOptions"].is_array() && loaded.get("sessionId").is_none());
    let updates = second.updates(&session);
    assert_eq!(
        joined(&updates),
        "user_message_chunk: one\nagent_message_chunk: First."
    );
    assert!(
        updates
            .iter()
            .all(|one| one["_meta"]["harn"]["replayed"] == true)
    );
    second.prompt(&session, "two").await.unwrap();
    assert_eq!(second.said(&session), "First.Second.");
}

#[tokio::test]
async fn a_session_that_is_resumed_tells_nothing_and_goes_on() {
    let scene = Scene::new(TALKS);
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    first.prompt(&session, "one").await.unwrap();
    first.leave().await.unwrap();
    let mut second = scene.client().await;
    second
        .call("session/resume", naming(&session, &scene.cwd()))
        .await
        .unwrap();
    assert_eq!(lines(&second.updates(&session)), [""; 0]);
    second.prompt(&session, "two").await.unwrap();
    assert_eq!(second.said(&session), "Second.");
}

#[tokio::test]
async fn who_has_read_up_to_an_index_is_told_what_follows() {
    let scene = Scene::new(TALKS);
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    first.prompt(&session, "one").await.unwrap();
    let read = first.updates(&session);
    let read = read
        .iter()
        .filter_map(|one| one["_meta"]["harn"]["index"].as_u64());
    let read = read.max().unwrap();
    first.prompt(&session, "two").await.unwrap();
    first.leave().await.unwrap();
    let mut second = scene.client().await;
    let mut parameters = naming(&session, &scene.cwd());
    parameters["_meta"] = json!({"harn": {"after": read}});
    second
        .call("session/load", parameters.clone())
        .await
        .unwrap();
    let told = joined(&second.updates(&session));
    assert!(
        told.ends_with("agent_message_chunk: Second.") && !told.contains("First"),
        "{told}"
    );
    parameters["_meta"]["harn"]["after"] = json!("x");
    let refused = second.call("session/load", parameters).await.unwrap_err();
    assert_eq!(refused["code"], -32602);
}

#[tokio::test]
async fn a_session_is_there_before_anything_was_said_and_after_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let config = EventLogConfig::for_base_dir_in(folder.path(), &|name| {
        (name == "HARN_EVENT_LOG_BACKEND").then(|| "file".to_owned())
    });
    let config = config.unwrap();
    let setting = |log: Arc<AnyEventLog>| Setting {
        log,
        scenario: TALKS,
        ..Setting::default()
    };
    let scene = Scene::of(setting(open_event_log(&config).unwrap()));
    let mut client = scene.client().await;
    let cwd = scene.cwd();
    let session = client.session(&cwd).await;
    client.leave().await.unwrap();
    let kept = scene.end();
    let scene = Scene::in_folder(kept, setting(open_event_log(&config).unwrap()));
    let mut client = scene.client().await;
    client
        .call("session/resume", naming(&session, &cwd))
        .await
        .unwrap();
    client.prompt(&session, "one").await.unwrap();
    assert_eq!(client.said(&session), "First.");
}

#[tokio::test]
async fn a_session_stays_in_its_folder() {
    let scene = Scene::new(TALKS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let other = tempfile::tempdir().unwrap();
    for method in ["session/load", "session/resume"] {
        let refused = client
            .call(method, naming(&session, other.path()))
            .await
            .unwrap_err();
        assert_eq!(refused["code"], -32602, "{method}");
    }
}

#[tokio::test]
async fn two_clients_follow_one_session_and_the_one_that_writes_hears_no_echo() {
    let scene = Scene::new(TALKS);
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    let mut second = scene.client().await;
    second
        .call("session/load", naming(&session, &scene.cwd()))
        .await
        .unwrap();
    first.prompt(&session, "one").await.unwrap();
    let is_said =
        |message: &Value| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk";
    second.until(is_said).await;
    second.leave().await.unwrap();
    let told = joined(&second.updates(&session));
    assert_eq!(told, "user_message_chunk: one\nagent_message_chunk: First.");
    assert_eq!(
        joined(&first.updates(&session)),
        "agent_message_chunk: First."
    );
}

async fn ids(client: &mut Client, parameters: Value) -> (Vec<String>, Option<String>) {
    let page = client.call("session/list", parameters).await.unwrap();
    let ids = page["sessions"].as_array().unwrap().iter();
    let ids = ids
        .map(|one| one["sessionId"].as_str().unwrap().to_owned())
        .collect();
    (ids, page["nextCursor"].as_str().map(str::to_owned))
}

#[tokio::test]
async fn sessions_are_listed_latest_first_page_by_page() {
    let scene = Scene::new(TALKS);
    let mut client = scene.client().await;
    let mut sessions = Vec::new();
    for _ in 0..60 {
        sessions.push(client.session(&scene.cwd()).await);
    }
    let (first, cursor) = ids(&mut client, json!({})).await;
    assert_eq!(first.len(), 50);
    let cursor = cursor.expect("there are more");
    let (rest, cursor) = ids(&mut client, json!({"cursor": cursor})).await;
    assert_eq!((rest.len(), cursor), (10, None));
    let mut all = [first, rest].concat();
    all.sort();
    sessions.sort();
    assert_eq!(all, sessions, "each of them once");
    let refused = client
        .call("session/list", json!({"cursor": "nonsense"}))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32602);
}

#[tokio::test]
async fn a_list_says_what_sessions_are_about_and_where() {
    let scene = Scene::new(TALKS);
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap();
    let mut client = scene.client().await;
    let here = client.session(&scene.cwd()).await;
    let there = client.session(&other).await;
    client.prompt(&here, "one").await.unwrap();
    let page = client.call("session/list", json!({})).await.unwrap();
    assert_eq!(page["sessions"][0]["sessionId"], here, "it was active last");
    assert_eq!(page["sessions"][0]["title"], "one");
    assert_eq!(page["sessions"][0]["cwd"], json!(scene.cwd()));
    assert!(
        page["sessions"][0]["updatedAt"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    assert_eq!(page["sessions"][1].get("title"), None);
    let (only, _) = ids(&mut client, json!({"cwd": other})).await;
    assert_eq!(only, [there]);
}

#[tokio::test]
async fn a_fork_begins_with_what_was_said_and_goes_its_own_way() {
    let scene = Scene::new(TALKS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "one").await.unwrap();
    let forked = client
        .call("session/fork", naming(&session, &scene.cwd()))
        .await
        .unwrap();
    let fork = forked["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(fork, session);
    assert_eq!(forked["_meta"]["harn"]["parentId"], session);
    assert!(forked["_meta"]["harn"]["branchedAt"].is_u64());
    client.prompt(&fork, "two").await.unwrap();
    assert_eq!(client.said(&fork), "Second.");
    assert_eq!(
        client.said(&session),
        "First.",
        "the parent does not hear of it"
    );
    client.leave().await.unwrap();
    let mut later = scene.client().await;
    later
        .call("session/load", naming(&fork, &scene.cwd()))
        .await
        .unwrap();
    assert_eq!(
        joined(&later.updates(&fork)),
        "user_message_chunk: one\nagent_message_chunk: First.\n\
         user_message_chunk: two\nagent_message_chunk: Second."
    );
}

#[tokio::test]
async fn a_fork_may_keep_less_and_have_a_name() {
    let scene = Scene::new(TALKS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "one").await.unwrap();
    client.prompt(&session, "two").await.unwrap();
    let mut parameters = naming(&session, &scene.cwd());
    parameters["_meta"] = json!({"harn": {"keepFirst": 2, "branch": "another way"}});
    let forked = client
        .call("session/fork", parameters.clone())
        .await
        .unwrap();
    let fork = forked["sessionId"].as_str().unwrap().to_owned();
    let listed = client.call("session/list", json!({})).await.unwrap();
    let listed = listed["sessions"].as_array().unwrap().iter();
    let named: Vec<_> = listed.filter(|one| one["sessionId"] == *fork).collect();
    assert_eq!(named[0]["title"], "another way");
    let mut later = scene.client().await;
    later
        .call("session/load", naming(&fork, &scene.cwd()))
        .await
        .unwrap();
    let told = joined(&later.updates(&fork));
    assert_eq!(told, "user_message_chunk: one\nagent_message_chunk: First.");
    parameters["_meta"]["harn"]["keepFirst"] = json!(-1);
    let refused = client.call("session/fork", parameters).await.unwrap_err();
    assert_eq!(refused["code"], -32602);
}

#[tokio::test]
async fn a_session_that_is_closed_can_be_loaded_again() {
    let scene = Scene::new(TALKS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "one").await.unwrap();
    client
        .call("session/close", json!({"sessionId": session}))
        .await
        .unwrap();
    let refused = client.prompt(&session, "two").await.unwrap_err();
    assert_eq!(refused["code"], -32002);
    client
        .call("session/load", naming(&session, &scene.cwd()))
        .await
        .unwrap();
    client.prompt(&session, "two").await.unwrap();
}

#[tokio::test]
async fn a_session_that_is_deleted_is_gone() {
    let scene = Scene::new(TALKS);
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "one").await.unwrap();
    client
        .call("session/delete", json!({"sessionId": session}))
        .await
        .unwrap();
    let (left, _) = ids(&mut client, json!({})).await;
    assert_eq!(left, [""; 0]);
    let refused = client
        .call("session/load", naming(&session, &scene.cwd()))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32002);
    client
        .call("session/delete", json!({"sessionId": session}))
        .await
        .unwrap();
}

#[tokio::test]
async fn whoever_opens_a_session_again_says_which_folders_belong_to_it() {
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap();
    let beside = other.join("b.txt");
    std::fs::write(&beside, "beside").unwrap();
    let program = format!(
        "pipeline answer(prompt, session_id) {{\n\
         let tools = coding_tools({{roots: [\".\", {0:?}]}})\n\
         agent_loop(prompt, \"You read.\", {{session_id: session_id, tools: tools}})\n}}",
        other.display().to_string()
    );
    let read = format!(
        "[[turn]]\ncall = [{{ tool = \"read\", arguments = {{ path = {:?} }} }}]\n\
         [[turn]]\ntext = \"Read.\"\n",
        beside.display().to_string()
    );
    let scene = Scene::of(Setting {
        program: &program,
        scenario: &read.repeat(3),
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let mut told = 0;
    let folders = [None, Some(json!([other])), Some(json!([]))];
    for (more, status) in folders.into_iter().zip(["failed", "completed", "failed"]) {
        if let Some(more) = &more {
            let mut parameters = naming(&session, &scene.cwd());
            parameters["additionalDirectories"] = more.clone();
            client.call("session/resume", parameters).await.unwrap();
            let listed = client.call("session/list", json!({})).await.unwrap();
            let listed = &listed["sessions"][0]["additionalDirectories"];
            assert_eq!(
                listed.as_array().map_or(&[][..], |list| list),
                more.as_array().unwrap()
            );
        }
        client.prompt(&session, "Read it").await.unwrap();
        let updates = client.updates(&session);
        let mut since = updates[told..].iter();
        assert!(
            since.any(|one| one["status"] == status),
            "{more:?}: {updates:#?}"
        );
        told = updates.len();
    }
}
