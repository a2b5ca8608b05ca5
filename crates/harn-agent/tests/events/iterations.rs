//! The frame of a loop: iterations, seams, feedback.

use harn_agent::Seam;
use harn_agent::llm::desk::Thrown;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool};

#[tokio::test(start_paused = true)]
async fn an_iteration_has_a_start_and_an_end() {
    let answer = json!({"text": "Fine.", "input_tokens": 7, "output_tokens": 3});
    let stage = Stage::proving(&["iteration_start", "iteration_end"], &[answer]);
    stage.run(json!({})).await;
    assert_eq!(
        stage.one("iteration_start"),
        json!({
            "type": "iteration_start", "session_id": SESSION, "iteration": 1, "provider": "mock",
            "model": "m",
        })
    );
    let end = stage.one("iteration_end");
    assert_eq!(end["iteration"], 1);
    let info = &end["iteration_info"];
    assert_eq!(info["provider"], "mock");
    assert_eq!(info["text"], "Fine.");
    assert_eq!(info["tool_count"], 0);
    assert_eq!(
        (&info["input_tokens"], &info["output_tokens"]),
        (&json!(7), &json!(3))
    );
    assert_eq!(info.get("skip_reason"), None);
}

#[tokio::test(start_paused = true)]
async fn a_turn_with_calls_tells_about_them_at_its_end() {
    let answers = [calling("look", json!({})), saying("Fine.")];
    let stage = Stage::proving(&["iteration_end", "loop_checkpoint"], &answers);
    let request = request(json!({})).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let ends = stage.of_type("iteration_end");
    assert_eq!(ends.len(), 2);
    let info = &ends[0]["iteration_info"];
    assert_eq!(info["tool_count"], 1);
    assert_eq!(info["tool_names"], json!(["look"]));
    assert_eq!(info["successful_tool_names"], json!(["look"]));
    let result = json!({"tool_name": "look", "status": "ok", "rejected": false});
    assert_eq!(info["tool_results"], json!([result]));
    assert_eq!(
        (&info["failed"], &info["iteration"]),
        (&json!(false), &json!(0))
    );
    let seams: Vec<String> = seams(&stage);
    let first = [
        "iteration_start",
        "pre_compact",
        "post_compact",
        "pre_tool_dispatch",
    ];
    let expected: Vec<&str> = [
        &first[..],
        &["post_tool_dispatch"],
        &first,
        &["iteration_end", "loop_exit"],
    ]
    .concat();
    assert_eq!(seams, expected);
}

fn seams(stage: &Stage) -> Vec<String> {
    let seams = stage.of_type("loop_checkpoint");
    let kinds = seams.iter().map(|seam| seam["kind"].as_str().unwrap());
    kinds.map(str::to_owned).collect()
}

fn seam(stage: &Stage, kind: &str) -> Value {
    let mut seams = stage.of_type("loop_checkpoint");
    seams.retain(|seam| seam["kind"] == kind);
    assert_eq!(seams.len(), 1, "{kind}");
    seams.remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_run_that_fails_ends_its_iteration_and_exits() {
    let broken = json!({"error": {"category": "auth", "message": "no such key"}});
    let stage = Stage::proving(&["iteration_end", "loop_checkpoint"], &[broken]);
    let failed = stage.run_with(request(json!({}))).await;
    assert!(failed.is_err());
    let story = [
        "iteration_start",
        "@iteration_start",
        "@pre_compact",
        "@post_compact",
        "iteration_end",
        "@loop_exit",
    ];
    assert_eq!(stage.story(), story);
    let info = stage.one("iteration_end")["iteration_info"].clone();
    assert_eq!(
        (&info["dispatch_skipped"], &info["skip_reason"]),
        (&json!(true), &json!("auth"))
    );
    for key in ["tool_count", "text", "provider", "model", "response_ms"] {
        assert!(info.get(key).is_some(), "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_without_iterations_only_exits() {
    let stage = Stage::proving(&["loop_checkpoint"], &[]);
    stage.run(json!({"max_iterations": 0})).await;
    assert_eq!(stage.story(), ["@loop_exit"]);
}

/// Two loops on one session are told one after the other.
#[tokio::test(start_paused = true)]
async fn two_loops_on_one_session_count_from_one_again() {
    let stage = Stage::proving(&["iteration_start"], &[saying("One."), saying("Two.")]);
    stage.run(json!({})).await;
    stage.run(json!({})).await;
    let starts = stage.of_type("iteration_start");
    assert_eq!(starts.len(), 2);
    assert!(starts.iter().all(|start| start["iteration"] == 1));
}

/// The inbox is emptied before and after compaction, and the seams count what they delivered.
#[tokio::test(start_paused = true)]
async fn feedback_is_told_before_the_seam_that_counts_it() {
    let stage = Stage::proving(
        &["feedback_injected", "loop_checkpoint"],
        &[saying("Fine.")],
    );
    stage.runtime.open_session(SESSION).await.unwrap();
    for (kind, content) in [("hint", "Look left."), ("hint", "Look right.")] {
        let arguments = [SESSION, kind, content].map(|text| json!(text));
        stage
            .ask("agent_inject_feedback", arguments.into())
            .await
            .unwrap();
    }
    stage.run(json!({})).await;
    let story = [
        "iteration_start",
        "@iteration_start",
        "feedback_injected",
        "feedback_injected",
        "@pre_compact",
        "@post_compact",
        "agent_message_chunk",
    ];
    assert_eq!(stage.story()[..7], story);
    let injected = stage.of_type("feedback_injected");
    assert_eq!(
        injected[0],
        json!({
            "type": "feedback_injected", "session_id": SESSION, "kind": "hint",
            "content": "Look left.",
        })
    );
    assert_eq!(injected[1]["content"], "Look right.");
    assert_eq!(seam(&stage, "pre_compact")["inbox_delivered"], 2);
    // Nothing delivered is not written.
    assert_eq!(seam(&stage, "post_compact").get("inbox_delivered"), None);
}

/// Messages of the host are counted by the seam that delivered them.
#[tokio::test(start_paused = true)]
async fn a_seam_counts_the_messages_of_the_host() {
    let answers = [calling("look", json!({})), saying("Fine.")];
    let stage = Stage::proving_with_host(&["loop_checkpoint"], &answers);
    stage.host.will_say(Seam::IterationStart, "By the way:");
    stage.host.will_say(Seam::PostToolDispatch, "And:");
    stage.host.will_say(Seam::LoopExit, "Too late.");
    let request = request(json!({})).tool(tool("look", Ok("a lamp")));
    let result = stage.run_with(request).await.unwrap();
    let seams = stage.of_type("loop_checkpoint");
    let delivered: Vec<(&str, &Value)> = seams
        .iter()
        .filter(|seam| seam["delivered"] != 0)
        .map(|seam| (seam["kind"].as_str().unwrap(), &seam["delivered"]))
        .collect();
    let one = json!(1);
    assert_eq!(
        delivered,
        [
            ("iteration_start", &one),
            ("post_tool_dispatch", &one),
            ("loop_exit", &one)
        ]
    );
    assert_eq!(result["deferred_user_messages"], json!(["Too late."]));
}

/// The seam at the end of a turn without calls counts them too.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_text_turn_counts_the_messages_of_the_host() {
    let answers = [saying("Hm."), saying("##DONE##")];
    let stage = Stage::proving_with_host(&["loop_checkpoint"], &answers);
    stage.host.will_say(Seam::IterationEnd, "And?");
    stage.run(json!({"persistent": true})).await;
    let mut seams = stage.of_type("loop_checkpoint");
    seams.retain(|seam| seam["kind"] == "iteration_end");
    let delivered: Vec<&Value> = seams.iter().map(|seam| &seam["delivered"]).collect();
    assert_eq!(delivered, [1, 0]);
}

/// An interrupt before the calls: none of them is made, and the seam says so.
#[tokio::test(start_paused = true)]
async fn an_interrupt_skips_the_calls() {
    let answers = [calling("look", json!({})), saying("Fine.")];
    let stage = Stage::proving_with_host(&["loop_checkpoint", "iteration_end"], &answers);
    stage.host.will_say(Seam::PreToolDispatch, "Stop!");
    let request = request(json!({})).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    assert!(stage.of_type("tool_call").is_empty());
    let seams = stage.of_type("loop_checkpoint");
    let skipping = seams.iter().find(|seam| seam["dispatch_skipped"] == true);
    assert_eq!(skipping.unwrap()["kind"], "pre_tool_dispatch");
    let info = &stage.of_type("iteration_end")[0]["iteration_info"];
    assert_eq!(info["skip_reason"], "interrupt_immediate");
    assert_eq!(info["dispatch_skipped"], true);
}

/// A hook that throws ends the run, and everything that was open.
#[tokio::test(start_paused = true)]
async fn a_callback_that_throws_ends_the_run_in_order() {
    let answers = [calling("look", json!({}))];
    let stage = Stage::proving(&["iteration_end", "loop_checkpoint"], &answers);
    let mut request = request(json!({})).tool(tool("look", Ok("a lamp")));
    let thrower = |_: Vec<Value>| Err(Thrown::Plain("no".to_owned()));
    let function = std::sync::Arc::new(thrower);
    request.functions.insert("/post_turn_callback", function);
    let failed = stage.run_with(request).await;
    assert_eq!(failed, Err(Thrown::Plain("no".to_owned())));
    assert_eq!(stage.story().last().unwrap(), "@loop_exit");
}
