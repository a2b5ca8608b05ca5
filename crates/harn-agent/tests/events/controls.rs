//! Guards, judges and budgets that decide about a loop.

use std::sync::Arc;

use harn_agent::llm::desk::Thrown;
use harn_agent::{Callback, LoopRequest};
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool, tool_doing};

/// A loop with a function among its options.
fn with(
    options: Value,
    path: &str,
    function: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> LoopRequest {
    let mut request = request(options);
    let function =
        move |arguments: Vec<Value>| -> Result<Value, Thrown> { Ok(function(&arguments[0])) };
    let function = Arc::new(function) as Arc<dyn Callback>;
    request.functions.insert(path, function);
    request
}

/// Where in a story something happens first.
fn place(story: &[String], what: &str) -> usize {
    story.iter().position(|one| one == what).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_judge_speaks_after_the_iteration_it_judges() {
    let answers = [saying("One."), saying("Two.")];
    let stage = Stage::proving(&["judge_decision"], &answers);
    let verify = |payload: &Value| match payload["iteration"].as_u64() {
        Some(0) => json!("Write tests."),
        _ => Value::Null,
    };
    let request = with(json!({}), "/verify_completion", verify);
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "done");
    let verdicts = stage.of_type("judge_decision");
    assert_eq!(verdicts.len(), 2);
    assert_eq!(verdicts[0]["iteration"], 1);
    assert_eq!(verdicts[0]["verdict"], "continue");
    assert_eq!(verdicts[0]["reasoning"], "Write tests.");
    assert_eq!(verdicts[0]["trigger"], "verify_completion");
    assert_eq!(verdicts[1]["verdict"], "done");
    let story = stage.story();
    let at = place(&story, "judge_decision");
    assert_eq!(story[at - 2..at], ["iteration_end", "@iteration_end"]);
    assert_eq!(story[at + 1], "iteration_start");
    assert_eq!(story[story.len() - 2..], ["judge_decision", "@loop_exit"]);
}

/// One who judges is asked over a network that never answers.
fn hanging() -> Value {
    json!({"enabled": true, "provider": "openai", "model": "gpt-4o", "timeout_ms": 50})
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_takes_too_long_does_not_hold_the_loop_up() {
    let stage = Stage::proving_online(&["judge_decision"]);
    stage.network.fall_silent();
    let request = request(json!({"verify_completion_judge": hanging()}));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "done");
    let reasoning = "the judge could not be asked: no answer within 50 ms";
    assert_eq!(stage.one("judge_decision")["reasoning"], reasoning);
}

#[tokio::test(start_paused = true)]
async fn a_classifier_that_takes_too_long_lets_the_message_through() {
    let stage = Stage::proving_online(&["scope_classifier_verdict"]);
    stage.network.fall_silent();
    let request = request(json!({"pre_turn_scope_classifier": hanging()}));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "done");
    let verdict = stage.one("scope_classifier_verdict");
    assert_eq!(verdict["original_label"], "error");
    assert_eq!(verdict["error"], "no answer within 50 ms");
}

#[tokio::test(start_paused = true)]
async fn a_judge_ends_a_loop_in_its_rhythm() {
    let verdict =
        |verdict: &str| saying(&json!({"verdict": verdict, "reasoning": "So."}).to_string());
    let answers = [
        calling("look", json!({})),
        calling("look", json!({"at": 2})),
        verdict("continue"),
        calling("look", json!({"at": 3})),
        calling("look", json!({"at": 4})),
        verdict("done"),
    ];
    let stage = Stage::proving(&["judge_decision"], &answers);
    let options = json!({"tool_format": "native", "done_judge": {"cadence": {"every": 2}}});
    let request = request(options).tool(tool("look", Ok("seen")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "done");
    assert_eq!(result["llm"]["iterations"], 4);
    let told = |at: usize| {
        let verdict = &stage.of_type("judge_decision")[at];
        (verdict["iteration"].clone(), verdict["verdict"].clone())
    };
    assert_eq!(told(0), (json!(2), json!("continue")));
    assert_eq!(told(1), (json!(4), json!("done")));
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_raised_and_a_loop_is_stopped() {
    let answers = [calling("look", json!({})), calling("look", json!({}))];
    let stage = Stage::proving(&["loop_control_decision"], &answers);
    let control = |state: &Value| match state["iteration"].as_u64() {
        Some(0) => json!({"action": "extend", "by": 3, "reason": "more"}),
        _ => json!({"action": "stop"}),
    };
    let options = json!({
        "tool_format": "native",
        "iteration_budget": {"mode": "adaptive", "initial": 1, "max": 9},
    });
    let request = with(options, "/loop_control", control).tool(tool("look", Ok("seen")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "stopped");
    assert_eq!(result["stop_reason"], "loop_control");
    let decisions = stage.of_type("loop_control_decision");
    let told = |at: usize| {
        let keys = ["iteration", "action", "old_limit", "new_limit", "status"];
        keys.map(|key| decisions[at][key].clone())
    };
    assert_eq!(json!(told(0)), json!([1, "extend", 1, 4, ""]));
    assert_eq!(json!(told(1)), json!([2, "stop", 4, 4, "stopped"]));
    let story = stage.story();
    let at = place(&story, "loop_control_decision");
    assert_eq!(story[at - 1], "@post_tool_dispatch");
}

#[tokio::test(start_paused = true)]
async fn a_refused_turn_skips_its_calls() {
    let answers = [calling("look", json!({})), saying("Done.")];
    let stage = Stage::proving(&["structural_validator_decision"], &answers);
    let check = |turn: &Value| match turn["tool_calls"].as_array().map(Vec::len) {
        Some(0) => Value::Null,
        _ => json!({"rule": "quiet", "diagnostic": "No calls.", "recommended_action": "Talk."}),
    };
    let options = json!({"tool_format": "native"});
    let request = with(options, "/structural_validator", check).tool(tool("look", Ok("seen")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["tools"]["calls"], json!([]));
    let decision = stage.one("structural_validator_decision");
    assert_eq!(decision["rule"], "quiet");
    assert_eq!(decision["vetoed"], true);
    assert_eq!(decision["attempts"], 1);
    assert_eq!(decision["max_attempts"], 3);
    let ends = stage.of_type("iteration_end");
    let reason = &ends[0]["iteration_info"]["skip_reason"];
    assert_eq!(reason, "structural_validator_revise");
    let story = stage.story();
    let at = place(&story, "structural_validator_decision");
    assert_eq!(story[at + 1..at + 3], ["iteration_end", "@iteration_end"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_out_of_scope_is_not_answered() {
    let stage = Stage::proving(&["scope_classifier_verdict"], &[]);
    let classify = |_: &Value| json!({"label": "out_of_scope", "confidence": 0.9, "evidence": "e"});
    let options = json!({"pre_turn_scope_classifier": {"enabled": true}});
    let request = with(options, "/pre_turn_scope_classifier/classifier", classify);
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "scope_alert");
    let verdict = stage.one("scope_classifier_verdict");
    assert_eq!(verdict["label"], "out_of_scope");
    assert_eq!(verdict["evidence"], "e");
    assert_eq!(verdict["skip_main_turn"], true);
    let story = stage.story();
    let at = place(&story, "scope_classifier_verdict");
    assert_eq!(story[at - 1], "@post_compact");
    let rest = ["iteration_end", "@iteration_end", "@loop_exit"];
    assert_eq!(story[at + 1..], rest);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_reached_trips_the_breaker() {
    let failing = json!({"error": {"category": "overloaded", "message": "later"}});
    let stage = Stage::proving(&["budget_circuit_breaker"], &[failing.clone(), failing]);
    let failures = json!({"max": 2, "paused_for_ms": 50});
    let budget = json!({"consecutive_failures": failures});
    let result = stage.run(json!({"iteration_budget": budget})).await;
    assert_eq!(result["status"], "budget_exhausted");
    assert_eq!(result["stop_reason"], "circuit_breaker");
    let breaker = stage.one("budget_circuit_breaker");
    assert_eq!(breaker["kind"], "consecutive_failures");
    assert_eq!(breaker["consecutive_count"], 2);
    assert_eq!(breaker["paused_for_ms"], 50);
    let exhausted = stage.one("budget_exhausted");
    assert_eq!(exhausted["kind"], "consecutive_failures");
    let story = stage.story();
    let at = place(&story, "budget_circuit_breaker");
    assert_eq!(story[at - 2..at], ["iteration_end", "@iteration_end"]);
    assert_eq!(story[at + 1..], ["budget_exhausted", "@loop_exit"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_tells_how_far_it_has_come() {
    let report = json!({"message": "Half.", "entries": [{"content": "look", "status": "done"}]});
    let answers = [calling("agent_progress", report), saying("Done.")];
    let stage = Stage::proving(&["progress_reported"], &answers);
    let options = json!({"tool_format": "native", "progress_tool": true});
    stage.run(options).await;
    let event = stage.one("progress_reported");
    assert_eq!(event["message"], "Half.");
    let entries = json!([{"content": "look", "status": "completed"}]);
    assert_eq!(event["entries"], entries);
    assert_eq!(event["replace"], true);
    assert_eq!(event["metadata"], json!({}));
    let plot = stage.plot();
    let at = place(&plot, "progress_reported");
    assert_eq!(plot[at - 1], "tool_call_update in_progress");
    assert_eq!(plot[at + 1], "tool_call_update completed");
}

#[tokio::test(start_paused = true)]
async fn what_is_noted_about_a_call_follows_its_end() {
    let answers = [calling("look", json!({})), saying("Done.")];
    let stage = Stage::proving(&["tool_call_audit"], &answers);
    let caller = |call: &Value| {
        assert_eq!(call["tool_name"], "look");
        json!({"ok": true, "result": "in its place", "audit": {"summary": "not made"}})
    };
    let options = json!({"tool_format": "native"});
    let request = with(options, "/tool_caller", caller).tool(tool("look", Ok("seen")));
    stage.run_with(request).await.unwrap();
    let audit = stage.one("tool_call_audit");
    assert_eq!(audit["tool_name"], "look");
    assert_eq!(audit["audit"], json!({"summary": "not made"}));
    let call = &stage.of_type("tool_call")[0];
    assert_eq!(audit["tool_call_id"], call["tool_call_id"]);
    let plot = stage.plot();
    let at = place(&plot, "tool_call_audit");
    assert_eq!(plot[at - 1], "tool_call_update completed");
}

#[tokio::test(start_paused = true)]
async fn an_operation_reports_to_the_loop_that_began_it() {
    let answers = [calling("look", json!({})), saying("Done.")];
    let stage = Stage::proving(&["feedback_injected"], &answers);
    let runtime = Arc::downgrade(&stage.runtime);
    let look = tool_doing("look", move || {
        let runtime = runtime.upgrade().unwrap();
        let operation = runtime.begin_operation(Some(SESSION), "look", "look around");
        let handle = operation.handle().to_string();
        let work = std::thread::spawn(move || operation.complete(Ok(json!(["a"]))));
        work.join().unwrap();
        Ok(handle)
    });
    let request = request(json!({"tool_format": "native"})).tool(look);
    stage.run_with(request).await.unwrap();
    let event = stage.one("feedback_injected");
    assert_eq!(event["kind"], "tool_result");
    let report: Value = serde_json::from_str(event["content"].as_str().unwrap()).unwrap();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["result"], json!(["a"]));
    let story = stage.story();
    let at = place(&story, "feedback_injected");
    assert_eq!(story[at + 1], "@pre_compact");
}
