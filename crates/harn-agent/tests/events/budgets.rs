//! Runs that are stopped.

use serde_json::json;

use crate::stage::{SESSION, Stage, calling, request, saying, tool};

/// The end of a stopped run: the event, the last seam, and no more.
#[track_caller]
fn check_end(stage: &Stage, terminal: &str) {
    let story = stage.story();
    assert_eq!(story[story.len() - 2..], [terminal, "@loop_exit"]);
    stage.one(terminal);
}

#[tokio::test(start_paused = true)]
async fn the_last_iteration_exhausts_the_budget() {
    let answers = [
        calling("look", json!({"path": "a"})),
        calling("look", json!({"path": "b"})),
    ];
    let stage = Stage::proving(&["budget_exhausted"], &answers);
    let request = request(json!({"max_iterations": 2})).tool(tool("look", Ok("a lamp")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "budget_exhausted");
    assert_eq!(
        stage.one("budget_exhausted"),
        json!({
            "type": "budget_exhausted", "session_id": SESSION, "max_iterations": 2,
            "kind": "max_iterations",
        })
    );
    check_end(&stage, "budget_exhausted");
    assert_eq!(stage.of_type("iteration_end").len(), 2);
}

/// What the model says about a run that was stopped comes before the run is left.
#[tokio::test(start_paused = true)]
async fn a_stopped_run_has_a_last_word() {
    let answers = [calling("look", json!({})), saying("Half of it.")];
    let stage = Stage::proving(&["budget_exhausted"], &answers);
    let options = json!({"max_iterations": 1, "final_wrapup": true});
    let request = request(options).tool(tool("look", Ok("a lamp")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "budget_exhausted");
    assert_eq!(result["visible_text"], "Half of it.");
    let story = stage.story();
    assert_eq!(
        story[story.len() - 3..],
        ["budget_exhausted", "agent_message_chunk", "@loop_exit"]
    );
    assert_eq!(stage.of_type("iteration_end").len(), 1);
}

/// The tokens win over a normal end.
#[tokio::test(start_paused = true)]
async fn tokens_exhaust_the_budget() {
    let answer = json!({"text": "Fine.", "input_tokens": 60, "output_tokens": 40});
    let stage = Stage::proving(&["budget_exhausted"], &[answer]);
    let result = stage.run(json!({"token_budget": 100})).await;
    assert_eq!(result["status"], "budget_exhausted");
    let event = stage.one("budget_exhausted");
    assert_eq!(
        (&event["kind"], &event["max_iterations"]),
        (&json!("tokens"), &json!(50))
    );
    check_end(&stage, "budget_exhausted");
}

/// A call that would cost too much is not made.
#[tokio::test(start_paused = true)]
async fn cost_exhausts_the_budget() {
    let stage = Stage::proving_online(&["budget_exhausted", "iteration_end"]);
    let options = json!({
        "provider": "openai", "model": "gpt-4o", "budget": {"total_budget_usd": 0.0},
    });
    let result = stage.run(options).await;
    assert_eq!(result["status"], "budget_exhausted");
    let event = stage.one("budget_exhausted");
    assert_eq!(
        (&event["kind"], &event["cost_usd"]),
        (&json!("total_cost"), &json!(0.0))
    );
    let info = stage.one("iteration_end")["iteration_info"].clone();
    assert_eq!(info["skip_reason"], "budget_exhausted");
    assert_eq!(info["dispatch_skipped"], true);
    let story = stage.story();
    assert_eq!(
        story[3..],
        [
            "@post_compact",
            "iteration_end",
            "@iteration_end",
            "budget_exhausted",
            "@loop_exit"
        ]
    );
}

/// A model that only talks is nudged, and then the run is stuck.
#[tokio::test(start_paused = true)]
async fn a_model_that_only_talks_is_stuck() {
    let answers = [saying("I think."), saying("I think more.")];
    let stage = Stage::proving(&["loop_stuck"], &answers);
    let result = stage
        .run(json!({"persistent": true, "max_nudges": 1}))
        .await;
    assert_eq!(result["status"], "stuck");
    assert_eq!(
        stage.one("loop_stuck"),
        json!({
            "type": "loop_stuck", "session_id": SESSION, "max_nudges": 1, "last_iteration": 2,
            "tail_excerpt": "I think more.",
        })
    );
    check_end(&stage, "loop_stuck");
}

/// A model that must act and does not is stuck as well.
#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_act_is_stuck() {
    let stage = Stage::proving(&["loop_stuck"], &[saying("I could.")]);
    let options = json!({
        "tool_format": "native", "max_nudges": 0,
        "turn_policy": {"require_action_or_yield": true},
    });
    let request = request(options).tool(tool("look", Ok("a lamp")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["status"], "stuck");
    assert_eq!(stage.one("loop_stuck")["tail_excerpt"], "I could.");
    check_end(&stage, "loop_stuck");
}
