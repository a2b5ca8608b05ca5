//! What is told about the format of calls before the first iteration.

use serde_json::json;

use crate::stage::{SESSION, Stage, request, tool};

fn hello() -> [serde_json::Value; 1] {
    [json!({
        "choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    })]
}

#[tokio::test(start_paused = true)]
async fn going_against_the_catalog_is_told_first() {
    let stage = Stage::proving_online(&["tool_format_override"]);
    stage.network.say(&hello());
    let options = json!({
        "provider": "openai", "model": "gpt-4o", "tool_format": "text",
        "tool_format_override_reason": "an experiment",
    });
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    assert_eq!(
        stage.story()[..2],
        ["tool_format_override", "iteration_start"]
    );
    let event = stage.one("tool_format_override");
    assert_eq!(
        event,
        json!({
            "type": "tool_format_override", "session_id": SESSION, "provider": "openai",
            "model": "gpt-4o", "requested_format": "text", "recommended_format": "native",
            "catalog_parity": event["catalog_parity"], "override_reason": "an experiment",
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_catalog_that_knows_nothing_is_told_first() {
    let stage = Stage::proving_online(&["capability_gap"]);
    stage.network.say(&hello());
    let options = json!({"provider": "local", "model": "unheard-of"});
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    assert_eq!(stage.story()[..2], ["capability_gap", "iteration_start"]);
    let event = stage.one("capability_gap");
    assert_eq!(event["level"], "warning");
    assert_eq!(event["capability"], "preferred_tool_format");
    assert_eq!(
        (&event["provider"], &event["model"]),
        (&json!("local"), &json!("unheard-of"))
    );
    assert_eq!(event["fallback_tool_format"], "text");
    assert!(event["message"].is_string());
}
