//! What the client is asked while a turn runs, and what it may say.

use serde_json::{Value, json};

use crate::client::{Client, Scene, Setting};

/// A program whose person wants to see what is written.
const CAREFUL: &str = r#"
pipeline answer(prompt, session_id) {
  agent_loop(prompt, "You write.", {
    session_id: session_id,
    tools: coding_tools(),
    approval_policy: {require_approval: ["write"]},
  })
}
"#;

/// The same with the skills there are.
const SKILLED: &str = r#"
pipeline answer(prompt, session_id) {
  agent_loop(prompt, "You write.", {
    session_id: session_id,
    tools: coding_tools(),
    skills: skills,
    approval_policy: {require_approval: ["write"]},
  })
}
"#;

/// A model that writes a file and is pleased.
const WRITES: &str = r#"
[[turn]]
text = "I write."
call = [{ tool = "write", arguments = { path = "a.txt", content = "new" } }]
[[turn]]
text = "Fine."
repeat = true
"#;

fn careful() -> Scene {
    Scene::of(Setting {
        program: CAREFUL,
        scenario: WRITES,
        ..Setting::default()
    })
}

/// The next request of the agent with that method.
async fn asked(client: &mut Client, method: &str) -> Value {
    client
        .until(|message| message["method"] == method && message.get("id").is_some())
        .await
}

async fn answers(client: &mut Client, asked: &Value, result: Value) {
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    client.send(&answer.to_string()).await;
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[tokio::test]
async fn a_call_is_made_only_if_the_client_allows_it() {
    for (option, is_written) in [("allow_once", true), ("reject_once", false), ("yes", false)] {
        let scene = careful();
        let mut client = scene.client().await;
        let session = client.session(&scene.cwd()).await;
        let turn = client.begin(&session, "Write it").await;
        let question = asked(&mut client, "session/request_permission").await;
        let call = &question["params"]["toolCall"];
        let announced = client.updates(&session);
        let announced = announced
            .iter()
            .find(|update| update["sessionUpdate"] == "tool_call")
            .expect("the client knows the call");
        for key in ["toolCallId", "kind"] {
            assert_eq!(call[key], announced[key], "{key}");
        }
        let input = json!({"path": "a.txt", "content": "new"});
        assert_eq!(call["rawInput"], input);
        let approval = &question["params"]["_meta"]["harn"]["approval"];
        assert_eq!(approval["action"], "write");
        assert_eq!(approval.get("deadline"), None);
        answers(&mut client, &question, selected(option)).await;
        client.answer(turn).await.unwrap();
        assert_eq!(scene.file("a.txt").exists(), is_written, "{option}");
    }
}

#[tokio::test]
async fn a_turn_that_is_cancelled_withdraws_what_it_asked() {
    let scene = careful();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Write it").await;
    let question = asked(&mut client, "session/request_permission").await;
    client
        .tell("session/cancel", json!({"sessionId": session}))
        .await;
    let answer = client.answer(turn).await.unwrap();
    assert_eq!(answer["stopReason"], "cancelled");
    let withdrawn = client
        .until(|message| message["method"] == "$/cancel_request")
        .await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert!(!scene.file("a.txt").exists());
}

#[tokio::test]
async fn unsaved_texts_are_read_and_edits_reach_the_editor() {
    let scene = Scene::of(Setting {
        scenario: r#"
[[turn]]
call = [{ tool = "edit", arguments = { path = "a.txt", old_text = "unsaved", new_text = "better" } }]
[[turn]]
text = "Fine."
"#,
        ..Setting::default()
    });
    std::fs::write(scene.file("a.txt"), "on disk").unwrap();
    let can = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut client = scene.client_with(can).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Edit it").await;
    let read = asked(&mut client, "fs/read_text_file").await;
    let path = json!(scene.file("a.txt"));
    assert_eq!(
        (&read["params"]["path"], &read["params"]["sessionId"]),
        (&path, &json!(session))
    );
    answers(&mut client, &read, json!({"content": "an unsaved text"})).await;
    let write = asked(&mut client, "fs/write_text_file").await;
    assert_eq!(write["params"]["path"], path);
    assert_eq!(write["params"]["content"], "an better text");
    answers(&mut client, &write, json!({})).await;
    client.answer(turn).await.unwrap();
    let disk = std::fs::read_to_string(scene.file("a.txt")).unwrap();
    assert_eq!(disk, "on disk", "the editor saves when it wants to");
}

#[tokio::test]
async fn commands_run_in_terminals_of_the_client_if_a_program_wants_that() {
    let scene = Scene::of(Setting {
        program: r#"
pipeline answer(prompt, session_id) {
  let tools = coding_tools({terminals: "client"})
  agent_loop(prompt, "You run.", {session_id: session_id, tools: tools})
}
"#,
        scenario: r#"
[[turn]]
call = [{ tool = "run", arguments = { command = "make" } }]
[[turn]]
text = "Made."
"#,
        ..Setting::default()
    });
    let mut client = scene.client_with(json!({"terminal": true})).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Make it").await;
    let create = asked(&mut client, "terminal/create").await;
    assert_eq!(create["params"]["args"], json!(["-c", "make"]));
    assert_eq!(create["params"]["cwd"], json!(scene.cwd()));
    answers(&mut client, &create, json!({"terminalId": "t1"})).await;
    let wait = asked(&mut client, "terminal/wait_for_exit").await;
    answers(&mut client, &wait, json!({"exitCode": 0})).await;
    let output = asked(&mut client, "terminal/output").await;
    let said = json!({"output": "made\n", "truncated": false});
    answers(&mut client, &output, said).await;
    let release = asked(&mut client, "terminal/release").await;
    answers(&mut client, &release, json!({})).await;
    client.answer(turn).await.unwrap();
    let updates = client.updates(&session);
    let shown = json!([{"type": "terminal", "terminalId": "t1"}]);
    assert!(updates.iter().any(|update| update["content"] == shown));
    // The last word about the call replaces what was shown before, and shows it again.
    let end = updates
        .iter()
        .find(|update| update["status"] == "completed");
    let end = end.expect("the call has ended");
    assert_eq!(end["content"], shown);
    assert_eq!(end["rawOutput"]["text"], "exit_code=0\nmade");
}

#[tokio::test]
async fn a_person_can_speak_while_the_agent_works() {
    let scene = careful();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Write it").await;
    let question = asked(&mut client, "session/request_permission").await;
    let input = json!({"sessionId": session, "content": "Be quick.", "mode": "finish_step"});
    let taken = client.call("_harn/session/input", input).await.unwrap();
    assert!(taken["index"].is_u64(), "{taken}");
    let late = json!({"sessionId": session, "content": "And then?", "mode": "wait_for_completion"});
    client.tell("session/input", late).await;
    answers(&mut client, &question, selected("allow_once")).await;
    client.answer(turn).await.unwrap();
    let said = client.updates(&session);
    let said: Vec<_> = said
        .iter()
        .filter(|update| update["sessionUpdate"] == "user_message_chunk")
        .map(|update| update["content"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["Be quick.", "And then?"]);
    assert_eq!(client.said(&session), "I write.Fine.Fine.");
}

#[tokio::test]
async fn questions_of_programs_are_forms() {
    let scene = Scene::of(Setting {
        program: r#"
pipeline answer(prompt) {
  let colour = ask_user("Which colour?", {schema: {type: "string", enum: ["red", "blue"]}})
  return "You want ${colour}."
}
"#,
        ..Setting::default()
    });
    let can = json!({"elicitation": {"form": {}}});
    let mut client = scene.client_with(can).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Ask me").await;
    let form = asked(&mut client, "elicitation/create").await;
    assert_eq!(form["params"]["message"], "Which colour?");
    let filled = json!({"action": "accept", "content": {"answer": "blue"}});
    answers(&mut client, &form, filled).await;
    client.answer(turn).await.unwrap();
    assert_eq!(client.said(&session), "You want blue.");
}

/// A program that uses what its host lends, if it does.
const BORROWS: &str = r#"
pipeline answer(prompt) {
  let sum = try { host_call("math.add", {a: 1, b: 2}) }
  if is_err(sum) {
    return unwrap_err(sum)
  }
  return "It is ${unwrap(sum)}."
}
"#;

#[tokio::test]
async fn a_host_lends_operations() {
    let scene = Scene::of(Setting {
        program: BORROWS,
        ..Setting::default()
    });
    let can = json!({"_meta": {"harn": {"bridge": {"version": 1}}}});
    let mut client = scene.client_with(can).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Add").await;
    let capabilities = asked(&mut client, "_harn/host/capabilities").await;
    answers(&mut client, &capabilities, json!({"math": ["add"]})).await;
    let call = asked(&mut client, "_harn/host/call").await;
    assert_eq!(call["params"]["name"], "math.add");
    assert_eq!(call["params"]["args"], json!({"a": 1, "b": 2}));
    answers(&mut client, &call, json!({"result": 3})).await;
    client.answer(turn).await.unwrap();
    assert_eq!(client.said(&session), "It is 3.");
}

#[tokio::test]
async fn a_client_without_the_bridge_is_never_asked_for_it() {
    let scene = Scene::of(Setting {
        program: BORROWS,
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "Add").await.unwrap();
    let lacking = "host_call: unsupported operation math.add";
    assert_eq!(client.said(&session), lacking);
    let asked = client.seen.iter().filter(|message| {
        let method = message["method"].as_str().unwrap_or_default();
        message.get("id").is_some() && !method.is_empty()
    });
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn extensions_that_make_no_sense_are_refused() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let first = client.session(&scene.cwd()).await;
    let input = json!({"sessionId": "nobody", "content": "x"});
    let unknown = client.call("_harn/session/input", input).await;
    assert_eq!(unknown.unwrap_err()["code"], -32002);
    let signal = json!({"sessionId": first, "name": "go"});
    let signal = client.call("_harn/workflow/signal", signal).await;
    assert_eq!(signal.unwrap_err()["data"]["reason"], "no_workflow");
    let unknown = client.call("_harn/other", json!({})).await;
    assert_eq!(unknown.unwrap_err()["code"], -32601);
    client.session(&scene.cwd()).await;
    let which = client
        .call("_harn/session/input", json!({"content": "x"}))
        .await;
    assert_eq!(which.unwrap_err()["code"], -32602);
}

#[tokio::test]
async fn skills_that_the_host_has_changed_are_seen_by_a_loop_that_runs() {
    let scene = Scene::of(Setting {
        program: SKILLED,
        scenario: r#"
[[turn]]
call = [{ tool = "write", arguments = { path = "a.txt", content = "new" } }]
[[turn]]
call = [{ tool = "load_skill", arguments = { name = "fresh" } }]
[[turn]]
text = "Done."
"#,
        ..Setting::default()
    });
    let can = json!({"_meta": {"harn": {"bridge": {"version": 1}}}});
    let mut client = scene.client_with(can).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Write it").await;
    let skill = |id: &str, name: &str| json!({"id": id, "name": name, "description": "For tests"});
    // A program that mentions skills has them found when it is loaded.
    let listed = asked(&mut client, "_harn/skills/list").await;
    answers(&mut client, &listed, json!([skill("h1", "stale")])).await;
    let question = asked(&mut client, "session/request_permission").await;
    let changed = json!({"sessionId": session});
    client.call("_harn/skills/changed", changed).await.unwrap();
    answers(&mut client, &question, selected("allow_once")).await;
    let listed = asked(&mut client, "_harn/skills/list").await;
    let skills = json!({"skills": [skill("h2", "fresh")]});
    answers(&mut client, &listed, skills).await;
    let fetched = asked(&mut client, "_harn/skills/fetch").await;
    assert_eq!(fetched["params"]["id"], "h2");
    let body = json!({"name": "fresh", "description": "For tests", "body": "Be brave."});
    answers(&mut client, &fetched, body).await;
    client.answer(turn).await.unwrap();
    let updates = client.updates(&session);
    let loaded = updates.iter().filter(|one| one["status"] == "completed");
    let loaded: Vec<_> = loaded.map(|one| one["rawOutput"].to_string()).collect();
    assert!(
        loaded.iter().any(|text| text.contains("Be brave.")),
        "{updates:#?}"
    );
    assert_eq!(client.said(&session), "Done.");
}

#[tokio::test]
async fn a_skill_that_the_host_takes_back_is_active_no_more() {
    let scene = Scene::of(Setting {
        program: SKILLED,
        scenario: r#"
[[turn]]
call = [{ tool = "write", arguments = { path = "a.txt", content = "new" } }]
[[turn]]
text = "Done."
"#,
        ..Setting::default()
    });
    let can = json!({"_meta": {"harn": {"bridge": {"version": 1}}}});
    let mut client = scene.client_with(can).await;
    let session = client.session(&scene.cwd()).await;
    let turn = client.begin(&session, "Write it with style").await;
    let listed = asked(&mut client, "_harn/skills/list").await;
    let skill = json!({"id": "h1", "name": "style", "description": "How to write with style"});
    answers(&mut client, &listed, json!([skill])).await;
    let fetched = asked(&mut client, "_harn/skills/fetch").await;
    let body = json!({"name": "style", "description": "Style", "body": "Be brief."});
    answers(&mut client, &fetched, body).await;
    let question = asked(&mut client, "session/request_permission").await;
    let changed = json!({"sessionId": session});
    client.call("_harn/skills/changed", changed).await.unwrap();
    answers(&mut client, &question, selected("allow_once")).await;
    let listed = asked(&mut client, "_harn/skills/list").await;
    answers(&mut client, &listed, json!([])).await;
    let is_told = |one: &Value| one.to_string().contains("skill_deactivated");
    let told = client.until(is_told).await;
    assert!(told.to_string().contains("style"), "{told}");
    client.answer(turn).await.unwrap();
}
