//! What the model says, what it thinks, and what users say.

use serde_json::json;

use crate::stage::{SESSION, Stage, saying};

#[tokio::test(start_paused = true)]
async fn a_reply_and_its_reasoning_are_told_before_the_calls_are_made() {
    let answer = json!({"text": "Hello.", "thinking": "A greeting."});
    let stage = Stage::proving(&["agent_message_chunk", "agent_thought_chunk"], &[answer]);
    stage.run(json!({})).await;
    let story = [
        "iteration_start",
        "@iteration_start",
        "@pre_compact",
        "@post_compact",
        "agent_thought_chunk",
        "agent_message_chunk",
        "@pre_tool_dispatch",
        "iteration_end",
        "@iteration_end",
        "@loop_exit",
    ];
    assert_eq!(stage.story(), story);
    assert_eq!(
        stage.one("agent_message_chunk"),
        json!({"type": "agent_message_chunk", "session_id": SESSION, "content": "Hello."})
    );
    assert_eq!(
        stage.one("agent_thought_chunk"),
        json!({"type": "agent_thought_chunk", "session_id": SESSION, "content": "A greeting."})
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_not_for_people_is_not_in_the_reply() {
    let answer = saying("<done>##DONE##</done>");
    let stage = Stage::proving(&[], &[answer]);
    stage.run(json!({})).await;
    assert!(stage.of_type("agent_message_chunk").is_empty());
}

/// Only messages with an id are told, and before the iteration that reads them.
#[tokio::test(start_paused = true)]
async fn a_user_message_with_an_id_is_told_when_it_is_said() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let rows = [
        (
            json!({"messageId": "m1", "content": "Hi"}),
            Some(("m1", text("Hi"))),
        ),
        (
            json!({"message_id": "m2", "content": text("Ho")}),
            Some(("m2", text("Ho"))),
        ),
        (json!({"messageId": " ", "content": "Hi"}), None),
        (json!({"content": "Hi"}), None),
    ];
    for (mut message, told) in rows {
        let stage = Stage::proving(
            match told {
                Some(_) => &["user_message"],
                None => &[],
            },
            &[saying("Fine.")],
        );
        message["role"] = json!("user");
        stage.run(json!({"messages": [message]})).await;
        let events = stage.of_type("user_message");
        match told {
            None => assert!(events.is_empty(), "{events:?}"),
            Some((id, content)) => {
                let event = json!({
                    "type": "user_message", "session_id": SESSION, "message_id": id,
                    "content": content,
                });
                assert_eq!(events, [event]);
                assert_eq!(stage.story()[0], "user_message");
            }
        }
    }
}
