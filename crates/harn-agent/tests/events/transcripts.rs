//! Conversations that have become too long.

use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool};

fn long_history() -> Value {
    let message = |at: usize| {
        let role = if at.is_multiple_of(2) {
            "user"
        } else {
            "assistant"
        };
        json!({"role": role, "content": format!("{at} {}", "word ".repeat(400))})
    };
    (0..8).map(message).collect()
}

#[tokio::test(start_paused = true)]
async fn a_long_conversation_is_compacted_before_the_model_is_asked() {
    let stage = Stage::proving(&["transcript_compacted"], &[saying("Fine.")]);
    stage
        .run(json!({
            "messages": long_history(), "compact_threshold": 100,
            "compaction": {"type": "truncate", "keep_last": 2},
        }))
        .await;
    let story = stage.story();
    assert_eq!(
        story[..5],
        [
            "iteration_start",
            "@iteration_start",
            "@pre_compact",
            "transcript_compacted",
            "@post_compact",
        ]
    );
    let event = stage.one("transcript_compacted");
    assert_eq!(event["session_id"], SESSION);
    assert_eq!(
        (&event["mode"], &event["reason"]),
        (&json!("preflight"), &json!("threshold"))
    );
    assert_eq!(event["strategy"], "truncate");
    assert!(event["archived_messages"].as_u64().unwrap() > 0);
    let tokens = |key: &str| event[key].as_u64().unwrap();
    assert!(tokens("estimated_tokens_after") < tokens("estimated_tokens_before"));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_grew_is_compacted_after_the_turn() {
    let answers = [calling("look", json!({})), saying("Fine.")];
    let stage = Stage::proving(&["transcript_compacted"], &answers);
    let options = json!({
        "compact_threshold": 400, "compaction": {"type": "truncate", "keep_last": 1},
    });
    let found: &'static str = Box::leak("lamp ".repeat(600).into_boxed_str());
    let request = request(options).tool(tool("look", Ok(found)));
    stage.run_with(request).await.unwrap();
    let event = stage.of_type("transcript_compacted").remove(0);
    assert_eq!(
        (&event["mode"], &event["reason"]),
        (&json!("auto"), &json!("threshold"))
    );
    let story = stage.story();
    let at = story
        .iter()
        .position(|one| one == "transcript_compacted")
        .unwrap();
    assert_eq!(story[at - 2..at], ["iteration_end", "@post_tool_dispatch"]);
}

#[tokio::test(start_paused = true)]
async fn a_program_compacts_when_it_likes() {
    let stage = Stage::proving(&["transcript_compacted"], &[]);
    stage.runtime.open_session(SESSION).await.unwrap();
    let transcript = json!({
        "_type": "transcript", "id": SESSION, "messages": long_history(), "events": [],
    });
    let options = json!({"strategy": "truncate", "keep_last": 2});
    stage
        .ask("transcript_compact", vec![transcript, options])
        .await
        .unwrap();
    let event = stage.one("transcript_compacted");
    assert_eq!(
        (&event["mode"], &event["reason"]),
        (&json!("manual"), &json!("manual"))
    );
    assert!(event["snapshot_asset_id"].is_string());
}

#[tokio::test(start_paused = true)]
async fn a_program_compacts_a_session() {
    let stage = Stage::proving(&["transcript_compacted"], &[saying("Fine.")]);
    let options = json!({"messages": long_history(), "compaction": false});
    stage.run(options).await;
    let arguments = vec![
        json!(SESSION),
        json!({"keep_last": 2, "compact_strategy": "truncate"}),
    ];
    stage.ask("agent_session_compact", arguments).await.unwrap();
    let event = stage.one("transcript_compacted");
    assert_eq!(
        (&event["mode"], &event["reason"]),
        (&json!("manual"), &json!("manual"))
    );
    assert_eq!(stage.story().last().unwrap(), "transcript_compacted");
}

/// The model sees less, and what was said stays.
#[tokio::test(start_paused = true)]
async fn a_projection_is_told_before_the_model_is_asked() {
    let stage = Stage::proving(&["transcript_projected"], &[saying("Fine.")]);
    let options = json!({
        "messages": long_history(), "compaction": false, "transcript_projection": null,
    });
    let mut request = request(options);
    let last = |arguments: Vec<Value>| {
        let messages = arguments[0].as_array().unwrap();
        Ok(json!(messages[messages.len() - 1..]))
    };
    let function = std::sync::Arc::new(last);
    request.functions.insert("/transcript_projection", function);
    stage.run_with(request).await.unwrap();
    let event = stage.one("transcript_projected");
    assert_eq!(
        (&event["session_id"], &event["policy"]),
        (&json!(SESSION), &json!("custom"))
    );
    assert_eq!(event["kept_count"], 1);
    assert!(event["dropped_count"].as_u64().unwrap() >= 7, "{event}");
    assert_eq!(event["provider_safety_blocked"], false);
    assert!(
        event["prefix_hash"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    let story = stage.story();
    let at = story
        .iter()
        .position(|one| one == "transcript_projected")
        .unwrap();
    assert_eq!(
        (&*story[at - 1], &*story[at + 1]),
        ("@post_compact", "agent_message_chunk")
    );
}

/// The iteration goes on: what the provider refused is asked again with less.
#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_for_the_model_is_compacted_and_asked_again() {
    let refused = json!({"error": {"category": "generic", "message": "prompt is too long"}});
    let answers = [refused, saying("Fine.")];
    let stage = Stage::proving(&["transcript_compacted", "feedback_injected"], &answers);
    stage
        .run(json!({
            "messages": long_history(), "compaction": {"type": "truncate", "keep_last": 2},
        }))
        .await;
    let story = stage.story();
    let place = story.iter().position(|step| *step == "@post_compact");
    let after = place.expect("the seam is passed") + 1;
    assert_eq!(
        story[after..after + 3],
        [
            "transcript_compacted",
            "feedback_injected",
            "agent_message_chunk"
        ]
    );
    let event = stage.one("transcript_compacted");
    assert_eq!(event["reason"], "context_overflow");
    assert_eq!(
        stage.one("feedback_injected"),
        json!({
            "type": "feedback_injected", "session_id": SESSION,
            "kind": "context_overflow_recovery", "content": "attempt 1/3 archived 6 messages",
        })
    );
    assert_eq!(stage.of_type("iteration_end").len(), 1);
}
