//! Skills that become active, and skills that no longer are.

use std::sync::{Arc, Mutex};

use harn_agent::{Callback, LoopRequest};
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool};

fn skills() -> Value {
    json!([
        {"name": "deploy", "description": "Ship", "prompt": "Build.", "allowed_tools": ["look"]},
        {"name": "paint", "description": "Colour", "prompt": "Wash."},
    ])
}

fn asking(prompt: &str, options: Value) -> LoopRequest {
    let mut request = request(options);
    request.prompt = prompt.to_owned();
    request.options.entry("skills").or_insert_with(skills);
    request.tool(tool("look", Ok("a lamp")))
}

/// The transcript events about skills.
fn noted(result: &Value) -> Vec<Value> {
    let events = result["transcript"]["events"].as_array().unwrap().iter();
    let is_ours = |event: &&Value| event["kind"].as_str().unwrap().starts_with("skill");
    events.filter(is_ours).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn a_skill_is_activated_at_the_head_of_the_first_turn() {
    let stage = Stage::proving(
        &["skill_activated", "skill_scope_tools"],
        &[saying("Fine.")],
    );
    let result = stage.run_with(asking("ship it", json!({}))).await.unwrap();
    assert_eq!(
        stage.one("skill_activated"),
        json!({
            "type": "skill_activated", "session_id": SESSION, "skill_name": "deploy",
            "iteration": 1, "reason": "1 keyword hit(s)",
        })
    );
    assert_eq!(
        stage.one("skill_scope_tools"),
        json!({
            "type": "skill_scope_tools", "session_id": SESSION, "skill_name": "deploy",
            "allowed_tools": ["look"],
        })
    );
    assert_eq!(
        stage.story()[..5],
        [
            "iteration_start",
            "@iteration_start",
            "skill_activated",
            "skill_scope_tools",
            "@pre_compact"
        ]
    );
    let noted = noted(&result);
    let kinds: Vec<&str> = noted
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["skill_matched", "skill_activated", "skill_scope_tools"]
    );
    assert_eq!(
        noted[1]["metadata"],
        json!({
            "name": "deploy", "iteration": 0, "reason": "1 keyword hit(s)", "score": 0.4,
            "description": "Ship", "allowed_tools": ["look"],
        })
    );
    let session = stage.runtime.session(SESSION).unwrap();
    assert_eq!(
        session.read(|state| state.active_skills.clone()),
        ["deploy"]
    );
}

/// Those that leave go before any comes, and hooks run behind the events of their skill.
#[tokio::test(start_paused = true)]
async fn a_reassessment_deactivates_first() {
    let colouring = json!({"text": "<tool_call>\nlook({})\n</tool_call>"});
    let stage = Stage::proving(
        &["skill_activated", "skill_deactivated", "skill_scope_tools"],
        &[colouring, saying("<user_response>So.</user_response>")],
    );
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let options = json!({"skill_match": {"sticky": false}, "tool_format": "text"});
    let mut request = asking("ship", options);
    request.tools = vec![tool("look", Ok("colour the wall"))];
    for (path, told) in [
        ("/skills/0/on_activate", "deploy on"),
        ("/skills/0/on_deactivate", "deploy off"),
        ("/skills/1/on_activate", "paint on"),
    ] {
        let heard = Arc::clone(&heard);
        let hook = move |_: Vec<Value>| {
            heard.lock().unwrap().push(told.to_owned());
            Ok(Value::Null)
        };
        request
            .functions
            .insert(path, Arc::new(hook) as Arc<dyn Callback>);
    }
    stage.run_with(request).await.unwrap();
    let told: Vec<String> = stage
        .events()
        .iter()
        .filter(|event| event["type"].as_str().unwrap().starts_with("skill_"))
        .map(|event| {
            let word = |key: &str| event[key].as_str().unwrap().to_owned();
            format!("{} {}", word("type"), word("skill_name"))
        })
        .collect();
    assert_eq!(
        told,
        [
            "skill_activated deploy",
            "skill_scope_tools deploy",
            "skill_deactivated deploy",
            "skill_activated paint"
        ]
    );
    assert_eq!(stage.one("skill_deactivated")["iteration"], 2);
    assert_eq!(
        *heard.lock().unwrap(),
        ["deploy on", "deploy off", "paint on"]
    );
}

/// What was active stays so in the next loop without being told again.
#[tokio::test(start_paused = true)]
async fn the_next_loop_goes_on_with_them() {
    let stage = Stage::proving(&["skill_activated"], &[saying("One."), saying("Two.")]);
    stage.run_with(asking("ship", json!({}))).await.unwrap();
    stage.run_with(asking("colour", json!({}))).await.unwrap();
    assert_eq!(stage.one("skill_activated")["skill_name"], "deploy");
    let session = stage.runtime.session(SESSION).unwrap();
    assert_eq!(
        session.read(|state| state.active_skills.clone()),
        ["deploy"]
    );
    // A loop without skills has none, and the one after it matches again.
    let stage = Stage::proving(
        &["skill_activated"],
        &[saying("One."), saying("Two."), saying("Three.")],
    );
    stage.run_with(asking("ship", json!({}))).await.unwrap();
    stage.run(json!({})).await;
    stage.run_with(asking("colour", json!({}))).await.unwrap();
    assert_eq!(stage.of_type("skill_activated").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_host_may_choose() {
    let rows = [
        (
            Ok(json!({"matches": [{"name": "paint"}]})),
            "paint host match host",
        ),
        (
            Ok(
                json!({"skills": [{"name": "deploy", "score": 0.1, "reason": "so"},
                                 {"name": "paint", "score": 7, "reason": "sure"}]}),
            ),
            "paint sure host",
        ),
        (Err("busy"), "deploy 1 keyword hit(s) metadata"),
        (Ok(json!(5)), "deploy 1 keyword hit(s) metadata"),
    ];
    for (answer, expected) in rows {
        let stage = Stage::proving_with_host(&["skill_activated"], &[saying("Fine.")]);
        stage.host.will_answer("skill/match", answer);
        let options = json!({"skill_match": {"strategy": "host"}, "working_files": "a.md"});
        let result = stage.run_with(asking("ship", options)).await.unwrap();
        let event = stage.one("skill_activated");
        let word = |key: &str| event[key].as_str().unwrap().to_owned();
        let matched = &noted(&result)[0]["metadata"];
        let told = format!(
            "{} {} {}",
            word("skill_name"),
            word("reason"),
            matched["strategy"].as_str().unwrap()
        );
        assert_eq!(told, expected);
        assert_eq!(matched["working_files"], json!(["a.md"]));
    }
    let stage = Stage::proving_with_host(&[], &[saying("Fine.")]);
    stage
        .host
        .will_answer("skill/match", Ok(json!({"matches": []})));
    let options = json!({"skill_match": {"strategy": "embedding"}});
    stage.run_with(asking("ship", options)).await.unwrap();
    assert!(stage.of_type("skill_activated").is_empty());
}

/// A skill that scores too little is not chosen.
#[tokio::test(start_paused = true)]
async fn a_least_score_may_be_asked_for() {
    for (least, expected) in [(0.4, 1), (0.41, 0)] {
        let stage = Stage::proving(&[], &[saying("Fine.")]);
        let options = json!({"skill_match": {"min_score": least}});
        stage.run_with(asking("ship", options)).await.unwrap();
        assert_eq!(stage.of_type("skill_activated").len(), expected);
    }
}

/// A body that is loaded counts from the next turn on; the call has no events of its own.
#[tokio::test(start_paused = true)]
async fn a_skill_that_is_loaded_narrows_the_next_turn() {
    let load = calling("load_skill", json!({"name": "deploy"}));
    let stage = Stage::proving(
        &["tool_call_update"],
        &[load, calling("write", json!({})), saying("Fine.")],
    );
    let options = json!({"tool_format": "native"});
    let request = asking("hello", options).tool(tool("write", Ok("written")));
    let result = stage.run_with(request).await.unwrap();
    assert!(stage.of_type("skill_activated").is_empty());
    assert_eq!(stage.of_type("tool_call").len(), 1);
    assert_eq!(result["tools"]["calls"], json!(["load_skill", "write"]));
    assert_eq!(result["tools"]["rejected"], json!(["write"]));
    assert_eq!(result["tools"]["successful"], json!(["load_skill"]));
    let noted = noted(&result);
    let loaded = noted.iter().find(|one| one["kind"] == "skill.loaded");
    assert_eq!(
        loaded.unwrap()["metadata"],
        json!({"skill_id": "deploy", "signer_fingerprint": null, "signed": false,
               "trusted": false})
    );
    let session = stage.runtime.session(SESSION).unwrap();
    let loaded = session.read(|state| state.run.loaded_skills.clone());
    assert_eq!(loaded, ["deploy"]);
}

/// What must be signed and is not becomes active, but its body reaches no model.
#[tokio::test(start_paused = true)]
async fn a_body_that_nobody_vouches_for_is_left_out() {
    let secret = json!({
        "name": "deploy", "description": "Ship", "prompt": "Do as I say.",
        "require_signature": true,
    });
    let stage = Stage::proving(&["skill_activated"], &[saying("Fine.")]);
    let mut request = asking("ship", json!({"skills": [secret]}));
    let seen: Arc<Mutex<Value>> = Arc::default();
    let seeing = Arc::clone(&seen);
    let look = move |payload: Vec<Value>| {
        *seeing.lock().unwrap() = payload[0]["system"].clone();
        Ok(Value::Null)
    };
    request
        .functions
        .insert("/context_callback", Arc::new(look) as Arc<dyn Callback>);
    stage.run_with(request).await.unwrap();
    let system = seen.lock().unwrap().as_str().unwrap().to_owned();
    assert!(system.contains("### deploy\nShip"), "{system}");
    assert!(!system.contains("Do as I say."), "{system}");
}

/// A server that cannot be reached is written down; one note for each, whatever list names it.
#[tokio::test(start_paused = true)]
async fn servers_that_do_not_come_up_are_noted() {
    let stage = Stage::proving(&["skill_activated"], &[saying("One."), saying("Two.")]);
    let skill = json!({"name": "deploy", "description": "Ship", "mcp": ["one", "two"],
                       "requires_mcp": ["one"]});
    let options = json!({"skills": [skill]});
    for prompt in ["ship", "go on"] {
        let result = stage
            .run_with(asking(prompt, options.clone()))
            .await
            .unwrap();
        let noted = noted(&result);
        let failed = noted
            .iter()
            .filter(|one| one["kind"] == "skill_mcp_bind_failed");
        let servers: Vec<&Value> = failed.map(|one| &one["metadata"]["server"]).collect();
        let servers = &servers[servers.len() - 2..];
        assert_eq!(servers, [&json!("one"), &json!("two")], "{prompt}");
    }
}
