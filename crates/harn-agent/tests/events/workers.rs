//! What a session hears of the workers that were started in it.

use serde_json::{Value, json};

use crate::stage::{SESSION, Stage};

fn config(more: Value) -> Value {
    let mut config = json!({
        "task": "dig",
        "name": "digger",
        "node": {"id": "s", "model_policy": {"provider": "mock"}},
        "audit": {"parent_session_id": SESSION},
        "carry": {"persist_state": false},
        "wait": true,
    });
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    config
}

async fn open(stage: &Stage) {
    stage.runtime.open_session(SESSION).await.unwrap();
}

/// The transitions and statuses that were told.
fn told(stage: &Stage) -> Vec<String> {
    let updates = stage.of_type("worker_update").into_iter();
    let short = |update: Value| {
        let word = |key: &str| update[key].as_str().unwrap().to_owned();
        format!("{} {}", word("event"), word("status"))
    };
    updates.map(short).collect()
}

#[tokio::test(start_paused = true)]
async fn a_worker_is_announced_and_completes() {
    let answers = [json!({"text": "Dug."})];
    let stage = Stage::proving(&["worker_update"], &answers);
    open(&stage).await;
    let done = stage.ask("spawn_agent", vec![config(json!({}))]).await;
    let done = done.unwrap();
    let expected = ["WorkerSpawned running", "WorkerCompleted completed"];
    assert_eq!(told(&stage), expected);
    for update in stage.of_type("worker_update") {
        assert_eq!(update["session_id"], SESSION);
        assert_eq!(update["worker_id"], done["id"]);
        assert_eq!(update["worker_name"], "digger");
        assert_eq!(update["worker_task"], "dig");
        assert_eq!(update["worker_mode"], "stage");
        assert_eq!(update["audit"]["worker_id"], done["id"]);
        assert_eq!(update["metadata"]["task"], "dig");
        assert_eq!(update["metadata"]["provenance"]["worker_id"], done["id"]);
    }
    let ended = stage.of_type("worker_update").pop().unwrap();
    assert_eq!(ended["metadata"]["artifact_count"], 1);
    assert_eq!(ended["metadata"]["has_transcript"], true);
    assert_eq!(ended["metadata"]["error"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_worker_fails_with_what_went_wrong() {
    let error = json!({"category": "auth", "message": "the door is locked"});
    let answers = [json!({"error": error})];
    let stage = Stage::proving(&["worker_update"], &answers);
    open(&stage).await;
    let thrown = stage.ask("spawn_agent", vec![config(json!({}))]).await;
    assert!(thrown.is_err());
    let expected = ["WorkerSpawned running", "WorkerFailed failed"];
    assert_eq!(told(&stage), expected);
    let ended = stage.of_type("worker_update").pop().unwrap();
    let error = ended["metadata"]["error"].as_str().unwrap();
    assert!(error.contains("the door is locked"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_waits_for_input_progresses_and_is_cancelled() {
    let answers = [json!({"match": "*", "text": "Dug."})];
    let stage = Stage::proving(&["worker_update"], &answers);
    open(&stage).await;
    let more = json!({
        "carry": {"persist_state": false, "retriggerable": true}, "wait": false,
    });
    let handle = stage.ask("spawn_agent", vec![config(more)]).await.unwrap();
    let waits = |stage: &Stage, times: usize| {
        let told = told(stage);
        let waiting = told.iter().filter(|one| one.starts_with("WorkerWaiting"));
        waiting.count() == times
    };
    while !waits(&stage, 1) {
        tokio::task::yield_now().await;
    }
    let more = vec![handle.clone(), json!({"depth": 2})];
    stage.ask("worker_trigger", more).await.unwrap();
    while !waits(&stage, 2) {
        tokio::task::yield_now().await;
    }
    stage
        .ask("close_agent", vec![handle.clone()])
        .await
        .unwrap();
    stage.ask("close_agent", vec![handle]).await.unwrap();
    let expected = [
        "WorkerSpawned running",
        "WorkerWaitingForInput awaiting_input",
        "WorkerProgressed progressed",
        "WorkerWaitingForInput awaiting_input",
        "WorkerCancelled cancelled",
    ];
    assert_eq!(told(&stage), expected);
    let ended = stage.of_type("worker_update").pop().unwrap();
    assert_eq!(ended["worker_task"], "{\"depth\":2}");
    assert_eq!(ended["metadata"]["error"], "worker cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_worker_is_suspended_and_resumed() {
    let call = json!({"name": "agent_await_resumption", "arguments": {"reason": "lunch"}});
    let answers = [json!({"tool_calls": [call]}), json!({"text": "Dug."})];
    let stage = Stage::proving(&["worker_update"], &answers);
    open(&stage).await;
    let options = json!({
        "provider": "mock", "tool_format": "native", "background": true,
        "agent_await_resumption": true, "audit": {"parent_session_id": SESSION},
        "carry": {"persist_state": false}, "session_id": "child",
    });
    let handle = stage
        .ask("sub_agent_run", vec![json!("dig"), options])
        .await;
    let handle = handle.unwrap();
    let waited = stage.ask("wait_agent", vec![handle.clone()]).await.unwrap();
    assert_eq!(waited["status"], "suspended");
    let input = vec![handle.clone(), json!("Lunch is over.")];
    stage.ask("resume_agent", input).await.unwrap();
    stage.ask("wait_agent", vec![handle]).await.unwrap();
    let expected = [
        "WorkerSpawned running",
        "WorkerSuspended suspended",
        "WorkerResumed running",
        "WorkerCompleted completed",
    ];
    assert_eq!(told(&stage), expected);
    let suspended = &stage.of_type("worker_update")[1];
    assert_eq!(suspended["metadata"]["suspension"]["reason"], "lunch");
    assert_eq!(suspended["worker_mode"], "sub_agent");
}

#[tokio::test(start_paused = true)]
async fn what_happens_in_a_child_is_told_in_its_own_session() {
    let stage = Stage::proving(
        &["iteration_start", "iteration_end"],
        &[json!({"text": "Dug."})],
    );
    let options = json!({"provider": "mock", "session_id": "child"});
    let envelope = stage
        .ask("sub_agent_run", vec![json!("dig"), options])
        .await;
    assert_eq!(envelope.unwrap()["summary"], "Dug.");
    let events = stage.events();
    assert!(events.iter().all(|event| event["session_id"] == "child"));
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_a_session_to_report_to_is_counted() {
    let stage = Stage::proving(&[], &[json!({"text": "Dug."})]);
    let nobody = json!({"audit": {}});
    stage
        .ask("spawn_agent", vec![config(nobody)])
        .await
        .unwrap();
    assert!(stage.of_type("worker_update").is_empty());
    assert_eq!(stage.runtime.bus().health().unattributed, 2);
}
