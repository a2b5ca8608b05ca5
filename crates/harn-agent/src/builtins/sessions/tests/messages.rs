//! Messages that programs put in and take out.

use serde_json::json;

use super::{contents, said, snapshot, texts};

#[test]
fn a_trim_keeps_the_last_messages_and_says_how_many() {
    let program = said("s", &["1", "2", "3", "4", "5"]);
    for (keep_last, kept) in [(9, 5), (5, 5), (2, 2)] {
        assert_eq!(
            program.get("agent_session_trim", json!(["s", keep_last])),
            kept
        );
    }
    assert_eq!(texts(&program, "s"), ["4", "5"]);
    assert_eq!(
        contents(&snapshot(&program, "s")["events"], "text"),
        ["4", "5"]
    );
    assert_eq!(program.get("agent_session_trim", json!(["s", 0])), 0);
}

#[test]
fn messages_are_kept_as_they_were_given() {
    let program = said("s", &[]);
    let messages = [
        json!({"role": "user", "content": "q", "messageId": "m"}),
        json!({"role": "tool_result", "tool_use_id": "t1", "content": "r"}),
        json!({"role": "system", "content": "rule"}),
    ];
    for message in &messages {
        let injected = program.get("agent_session_inject", json!(["s", message]));
        assert_eq!(injected, json!(null));
    }
    let snapshot = snapshot(&program, "s");
    assert_eq!(snapshot["messages"], json!(messages));
    assert_eq!(
        contents(&snapshot["events"], "kind"),
        ["message", "tool_result", "message"]
    );
    program.get("agent_session_fork", json!(["s", "t"]));
    assert_eq!(super::snapshot(&program, "t")["messages"], json!(messages));
}

#[test]
fn what_is_no_message_is_refused() {
    let program = said("s", &[]);
    let role = "message must have a string `role` (user|assistant|tool_result|system)";
    let rows = [
        (json!(["s"]), "`message` required"),
        (json!(["s", "hello"]), "message must be a dict"),
        (json!(["s", ["user"]]), "message must be a dict"),
        (json!(["s", {"content": "hello"}]), role),
        (json!(["s", {"role": 3}]), role),
    ];
    for (arguments, complaint) in rows {
        let refusal = program.refusal("agent_session_inject", arguments);
        assert_eq!(refusal, format!("agent_session_inject: {complaint}"));
    }
    assert_eq!(program.get("agent_session_length", json!(["s"])), 0);
}

#[test]
fn user_messages_with_an_identity_are_announced() {
    let program = said("s", &[]);
    let watch = program.watch("s");
    let messages = [
        json!({"role": "user", "content": "plain"}),
        json!({"role": "user", "content": "hello", "messageId": "m1"}),
        json!({"role": "user", "content": "again", "message_id": "m2"}),
        json!({"role": "user", "content": "blank", "message_id": " "}),
        json!({"role": "assistant", "content": "no", "message_id": "m3"}),
    ];
    for message in messages {
        program.get("agent_session_inject", json!(["s", message]));
    }
    let announced = |id: &str, text: &str| {
        json!({
            "type": "user_message", "session_id": "s", "message_id": id,
            "content": [{"type": "text", "text": text}],
        })
    };
    assert_eq!(
        watch.take(),
        [announced("m1", "hello"), announced("m2", "again")]
    );
}
