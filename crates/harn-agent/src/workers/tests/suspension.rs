use std::time::Duration;

use harn_events::AgentEvent;
use serde_json::json;

use super::*;

/// The mock stops its loop next.
fn mock_waiting(program: &Program, conditions: Value) {
    let arguments = json!({"reason": "waiting for review", "conditions": conditions});
    let call = json!({"name": "agent_await_resumption", "arguments": arguments});
    let added = program
        .runtime
        .desk()
        .answer("llm_mock", &[json!({"tool_calls": [call]})]);
    assert!(added.is_some(), "the desk has a mock");
}

async fn reach(program: &Program, handle: &Value, status: &str) {
    while program.status(handle).await != status {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_worker_that_suspends_itself_goes_on_with_what_it_is_told() {
    run(async {
        let program = Program::default();
        program.runtime.open_session("parent").await.unwrap();
        let watch = program.watch("parent");
        mock_waiting(&program, json!(null));
        program.mock("Reviewed.");
        let options = json!({
            "agent_await_resumption": true, "audit": {"parent_session_id": "parent"},
        });
        let handle = program.start(options, Functions::default()).await;
        let waited = program.done("wait_agent", json!([handle])).await;
        assert_eq!(waited["status"], "suspended");
        program
            .done("resume_agent", json!([handle, "It is fine."]))
            .await;
        let done = program.done("wait_agent", json!([handle])).await;
        assert_eq!(done["status"], "completed");
        assert_eq!(done["result"]["summary"], "Reviewed.");
        assert_eq!(done["history"], json!(["dig"]));
        let transcript = done["result"]["transcript"]["messages"].to_string();
        assert!(transcript.contains("It is fine."), "{transcript}");
        let events = watch.take();
        let told: Vec<&str> = events
            .iter()
            .filter_map(|event| event["event"].as_str())
            .collect();
        let expected = [
            "WorkerSpawned",
            "WorkerSuspended",
            "WorkerResumed",
            "WorkerCompleted",
        ];
        assert_eq!(told, expected);
        let suspension = &events[1]["metadata"]["suspension"];
        assert_eq!(suspension["handle"], handle["id"]);
        assert_eq!(suspension["reason"], "waiting for review");
        assert_eq!(suspension["initiator"], "agent");
        assert_eq!(suspension["iterations_completed"], 1);
    });
}

#[test]
fn a_pause_with_a_limit_ends() {
    for (on_timeout, status) in [
        ("fail", "failed"),
        ("resume_with_summary", "completed"),
        ("resume_with_input", "completed"),
    ] {
        run(async {
            let program = Program::default();
            let timeout = json!({"duration_minutes": 5, "on_timeout": on_timeout});
            mock_waiting(&program, json!({"timeout": timeout}));
            program.mock("In time.");
            let options = json!({"agent_await_resumption": true});
            let handle = program.start(options, Functions::default()).await;
            reach(&program, &handle, "suspended").await;
            tokio::time::sleep(Duration::from_secs(4 * 60)).await;
            assert_eq!(program.status(&handle).await, "suspended");
            tokio::time::sleep(Duration::from_secs(2 * 60)).await;
            reach(&program, &handle, status).await;
        });
    }
}

#[test]
fn a_worker_that_waits_for_an_event_goes_on_when_it_happens() {
    for condition in [
        json!("plan"),
        json!(["artifact", "plan"]),
        json!({"type": "plan", "session_id": "elsewhere"}),
    ] {
        run(async {
            let session = condition["session_id"].as_str().unwrap_or("parent");
            let program = Program::default();
            program.runtime.open_session("parent").await.unwrap();
            mock_waiting(&program, json!({"on_event": condition}));
            program.mock("It happened.");
            let options = json!({
                "agent_await_resumption": true, "audit": {"parent_session_id": "parent"},
            });
            let handle = program.start(options, Functions::default()).await;
            reach(&program, &handle, "suspended").await;
            let plan = |session_id: &str| AgentEvent::Plan {
                session_id: session_id.to_owned(),
                plan: json!({"title": "Next"}),
            };
            program.runtime.bus.emit(&plan("nobody's"));
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert_eq!(program.status(&handle).await, "suspended");
            program.runtime.bus.emit(&plan(session));
            reach(&program, &handle, "completed").await;
            let done = program.done("wait_agent", json!([handle])).await;
            let transcript = done["result"]["transcript"]["messages"].to_string();
            let told = format!("`plan` happened in session {session}.");
            assert!(transcript.contains(&told), "{transcript}");
        });
    }
}

#[test]
fn a_worker_that_waits_for_a_trigger_goes_on_when_it_is_triggered() {
    run(async {
        let program = Program::default();
        mock_waiting(&program, json!({"trigger": "review"}));
        program.mock("Reviewed.");
        let options = json!({"agent_await_resumption": true});
        let handle = program.start(options, Functions::default()).await;
        reach(&program, &handle, "suspended").await;
        let other = json!([handle, {"trigger": "deploy"}]);
        let text = program.refused("worker_trigger", other).await;
        assert!(text.contains("until another trigger: \"review\""), "{text}");
        let review = json!([handle, {"trigger": "review", "verdict": "fine"}]);
        program.done("worker_trigger", review).await;
        reach(&program, &handle, "completed").await;
        let done = program.done("wait_agent", json!([handle])).await;
        let transcript = done["result"]["transcript"]["messages"].to_string();
        assert!(transcript.contains("verdict"), "{transcript}");
    });
}

#[test]
fn a_worker_that_was_suspended_is_resumed_by_another_process() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let before = program_in(folder.path());
        mock_waiting(&before, json!(null));
        let options = json!({"agent_await_resumption": true, "carry": {}});
        let handle = before.start(options, Functions::default()).await;
        before.done("wait_agent", json!([handle])).await;
        let after = program_in(folder.path());
        after.mock("Here again.");
        let resumed = after
            .done("resume_agent", json!([handle["id"], "Go on."]))
            .await;
        assert_eq!(resumed["status"], "running");
        let done = after.done("wait_agent", json!([handle])).await;
        assert_eq!(done["result"]["summary"], "Here again.");
        let text = after
            .refused("resume_agent", json!([handle["id"], "Again."]))
            .await;
        assert!(text.starts_with("HARN-SUS-003"), "{text}");
    });
}

#[test]
fn a_worker_that_was_paused_remembers_in_another_process() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let before = program_in(folder.path());
        let hold = Hold::new();
        before.mock_call("hold");
        let options = json!({"tools": tools(&["hold"]), "carry": {}});
        let handle = before.start(options, hold.functions()).await;
        hold.called.notified().await;
        before.done("suspend_agent", json!([handle, "lunch"])).await;
        hold.opened.notify_one();
        reach(&before, &handle, "suspended").await;
        let after = program_in(folder.path());
        let found = after.done("resume_agent", json!([handle["id"]])).await;
        assert_eq!(
            found["status"], "suspended",
            "loading it is not resuming it"
        );
        let worker = after.runtime.workers.get(found["id"].as_str().unwrap());
        let said = worker
            .unwrap()
            .read(|inner| inner.worker.transcript.to_string());
        assert!(said.contains("held"), "{said}");
    });
}

#[test]
fn who_cannot_be_suspended_is_told_apart() {
    run(async {
        let program = Program::default();
        let text = program.refused("suspend_agent", json!(["nobody"])).await;
        assert_eq!(text, "HARN-SUS-001: unknown worker: nobody");
        program.mock("Dug.");
        let handle = program.start(json!({}), Functions::default()).await;
        program.done("wait_agent", json!([handle])).await;
        let text = program.refused("suspend_agent", json!([handle])).await;
        assert!(text.starts_with("HARN-SUS-002: "), "{text}");
    });
}

#[test]
fn a_wish_to_pause_ends_with_the_cycle() {
    run(async {
        let program = Program::default();
        let hold = Hold::new();
        program.mock_call("hold");
        program.mock("Again.");
        let options = json!({"tools": tools(&["hold"]), "max_iterations": 1});
        let handle = program.start(options, hold.functions()).await;
        hold.called.notified().await;
        program.done("suspend_agent", json!([handle])).await;
        // There is no further turn before which it could pause.
        hold.opened.notify_one();
        let done = program.done("wait_agent", json!([handle])).await;
        assert_eq!(done["status"], "completed");
        program.done("send_input", json!([handle, "again"])).await;
        let done = program.done("wait_agent", json!([handle])).await;
        assert_eq!(done["result"]["summary"], "Again.");
    });
}
