use std::sync::Arc;

use harn_log::block_on;

use super::*;
use crate::transcript::answer;

fn transcript(messages: Value) -> Value {
    let made = answer("transcript_from_messages", &[messages], &mut || {
        "i".to_owned()
    });
    made.expect("it is a builtin").expect("it is a list")
}

fn projected(transcript: &Value, policy: Value) -> Value {
    let arguments = [transcript.clone(), policy];
    let result = answer("transcript_project", &arguments, &mut || "e".to_owned());
    result.expect("it needs no function").expect("it is right")
}

/// An OpenAI-style call and its result.
fn pair(id: &str, name: &str, arguments: &str, result: &str) -> [Value; 2] {
    let function = json!({"name": name, "arguments": arguments});
    [
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": id, "type": "function", "function": function},
        ]}),
        json!({"role": "tool", "tool_call_id": id, "content": result}),
    ]
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn numbers(result: &Value) -> [u64; 3] {
    ["kept_count", "dropped_count", "redacted_count"]
        .map(|key| result[key].as_u64().expect("it is a count"))
}

#[test]
fn raw_changes_nothing() {
    let transcript = transcript(json!([user("hello")]));
    for policy in [
        json!("raw"),
        json!({"policy": "raw"}),
        json!(null),
        json!({}),
    ] {
        let result = projected(&transcript, policy);
        let mut keys: Vec<&String> = result.as_object().expect("a dict").keys().collect();
        keys.sort_unstable();
        let expected = [
            "dropped_count",
            "event",
            "kept_count",
            "messages",
            "policy",
            "prefix_hash",
            "provider_safety_blocked",
            "reclaimed_tokens",
            "redacted_count",
        ];
        assert_eq!(keys, expected);
        assert_eq!(result["policy"], "raw");
        assert_eq!(result["messages"], transcript["messages"]);
        assert_eq!(numbers(&result), [1, 0, 0]);
        assert_eq!(result["event"], Value::Null);
        assert_eq!(result["provider_safety_blocked"], false);
    }
}

#[test]
fn repaired_calls_are_dropped_with_their_results() {
    // The mock counts ids from one in every answer, so they repeat.
    let [failed, error] = pair("1", "read", "{}", "Error: no such file");
    let [other, other_error] = pair("1", "run", "{}", "ERROR: it broke");
    let [good, fine] = pair("1", "read", "{}", "text");
    let messages = json!([user("go"), failed, error, other, other_error, good, fine]);
    let transcript = transcript(messages);
    let result = projected(&transcript, json!("clean_tool_repair"));
    let expected = json!([user("go"), other, other_error, good, fine]);
    assert_eq!(result["messages"], expected);
    assert_eq!(numbers(&result), [5, 2, 0]);
    // "Error: no such file" has 19 bytes, all texts before have 42 and after 23.
    assert_eq!(result["reclaimed_tokens"], 42 / 4 - 23 / 4);
    let event = &result["event"];
    assert_eq!(event["kind"], "transcript.projection");
    assert_eq!(event["visibility"], "internal");
    assert_eq!(event["metadata"]["dropped_count"], 2);
    assert_eq!(event["metadata"]["prefix_hash"], result["prefix_hash"]);
    assert_ne!(
        result["prefix_hash"],
        projected(&transcript, json!("raw"))["prefix_hash"]
    );
}

#[test]
fn one_of_two_calls_of_a_message_can_go() {
    let message = json!({"role": "assistant", "content": [
        {"type": "text", "text": "both"},
        {"type": "tool_use", "id": "a", "name": "read", "input": {}},
        {"type": "tool_use", "id": "b", "name": "run", "input": {}},
    ]});
    let results = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": true},
        {"type": "tool_result", "tool_use_id": "b", "content": "ok"},
    ]});
    let [good, fine] = pair("c", "read", "{}", "text");
    let transcript = transcript(json!([message, results, good, fine]));
    let result = projected(&transcript, json!("clean_tool_repair"));
    let expected = json!([
        {"role": "assistant", "content": [
            {"type": "text", "text": "both"},
            {"type": "tool_use", "id": "b", "name": "run", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "b", "content": "ok"},
        ]},
        good,
        fine,
    ]);
    assert_eq!(result["messages"], expected);
    assert_eq!(numbers(&result), [2, 0, 2]);
}

#[test]
fn failed_calls_become_notes() {
    let [failed, error] = pair("1", "read", "{}", "Error: no\nmore");
    let denied = r#"{"error": "permission_denied", "tool": "run", "reason": "no"}"#;
    let [mut refused, refusal] = pair("2", "run", "{}", denied);
    refused["content"] = json!("I try.");
    let transcript = transcript(json!([user("go"), failed, error, refused, refusal]));
    let result = projected(&transcript, json!("squash_failed_calls"));
    let expected = json!([
        user("go"),
        {"role": "assistant", "content": "[failed call of read: Error: no]"},
        {"role": "assistant", "content": format!("I try.\n[failed call of run: {denied}]")},
    ]);
    assert_eq!(result["messages"], expected);
    assert_eq!(numbers(&result), [1, 2, 2]);
}

#[test]
fn a_summary_stands_for_what_is_gone() {
    let mut transcript = transcript(json!([user("a"), user("b"), user("c")]));
    let policy = json!("summary_prefix");
    assert_eq!(projected(&transcript, policy.clone())["event"], Value::Null);
    transcript["summary"] = json!("sum");
    let result = projected(&transcript, policy.clone());
    assert_eq!(
        result["messages"],
        json!([user("sum"), user("a"), user("b"), user("c")])
    );
    let result = projected(
        &transcript,
        json!({"policy": "summary_prefix", "keep_last": 1}),
    );
    assert_eq!(result["messages"], json!([user("sum"), user("c")]));
    assert_eq!(numbers(&result), [1, 2, 0]);
    transcript["messages"][0] = user("[auto-compacted 2 older messages]\nlong");
    let result = projected(&transcript, policy.clone());
    assert_eq!(
        result["messages"],
        json!([user("sum"), user("b"), user("c")])
    );
    transcript["messages"][0] = user("sum");
    assert_eq!(
        projected(&transcript, policy)["messages"],
        transcript["messages"]
    );
}

#[test]
fn old_large_results_go_unless_something_refers_to_them() {
    let large = "x".repeat(2000);
    let [needed, text] = pair("1", "read", r#"{"path": "main.rs"}"#, &large);
    let [idle, idle_text] = pair("2", "read", r#"{"path": "other.rs"}"#, &large);
    let [small, small_text] = pair("3", "read", r#"{"path": "small.rs"}"#, "x");
    let [recent, recent_text] = pair("4", "read", r#"{"path": "late.rs"}"#, &large);
    let messages = json!([
        needed,
        text,
        idle,
        idle_text,
        small,
        small_text,
        recent,
        recent_text,
        user("fix main.rs"),
    ]);
    let transcript = transcript(messages);
    let result = projected(
        &transcript,
        json!({"type": "reachability_gc", "keep_last": 2}),
    );
    let expected = json!([
        needed,
        text,
        small,
        small_text,
        recent,
        recent_text,
        user("fix main.rs"),
    ]);
    assert_eq!(result["messages"], expected);
    assert_eq!(numbers(&result), [7, 2, 0]);
    // By default four messages are recent, so the one at position 3 of 9 is old.
    let usual = projected(&transcript, json!("reachability_gc"));
    assert_eq!(numbers(&usual), [7, 2, 0]);
    let careful = json!({"policy": "reachability_gc", "keep_last": 6});
    assert_eq!(numbers(&projected(&transcript, careful)), [9, 0, 0]);
    let coarse = json!({"policy": "reachability_gc", "large_bytes": 2001});
    assert_eq!(numbers(&projected(&transcript, coarse)), [9, 0, 0]);
}

#[test]
fn what_a_provider_signed_is_not_touched() {
    let call = json!({"type": "tool_use", "id": "a", "name": "read", "input": {}});
    let thought = json!({"type": "thinking", "thinking": "t", "signature": "s"});
    let gemini = json!({"wire": "gemini", "blocks": [{"thoughtSignature": "s"}]});
    let [mut kept, error] = pair("b", "read", "{}", "Error: no");
    let [good, fine] = pair("c", "read", "{}", "text");
    kept["kept"] = gemini;
    let signed = json!({"role": "assistant", "content": [thought, call]});
    let failure = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "Error: no"},
    ]});
    for (signed, failure) in [(signed, failure), (kept, error)] {
        let transcript = transcript(json!([user("go"), signed, failure, good, fine]));
        for policy in ["clean_tool_repair", "squash_failed_calls"] {
            let result = projected(&transcript, json!(policy));
            assert_eq!(result["provider_safety_blocked"], true);
            assert_eq!(result["messages"], transcript["messages"]);
            assert_eq!(numbers(&result), [5, 0, 0]);
            assert_eq!(result["event"], Value::Null);
        }
    }
}

fn custom(transcript: &Value, chosen: Value) -> Result<Value, Thrown> {
    let mut functions = Functions::default();
    functions.insert("", Arc::new(move |_: Vec<Value>| Ok(chosen.clone())));
    block_on(project(transcript, &Value::Null, &functions, &|| {
        "e".to_owned()
    }))
}

#[test]
fn a_program_may_choose_itself() {
    let [call, text] = pair("1", "read", "{}", "text");
    let unanswered = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "9"}]});
    let messages = json!([user("a"), call, text, unanswered]);
    let transcript = transcript(messages);
    let result = custom(&transcript, json!([user("b"), call, unanswered])).expect("it is a list");
    // The call has lost its result; the unanswered one never had any.
    assert_eq!(result["messages"], json!([user("b"), unanswered]));
    assert_eq!(result["policy"], "custom");
    assert_eq!(numbers(&result), [1, 2, 1]);
    let [_, mut short] = pair("1", "read", "{}", "text");
    short["content"] = json!("t");
    let result = custom(&transcript, json!([user("a"), call, short])).expect("it is a list");
    assert_eq!(result["messages"], json!([user("a"), call, short]));
    assert_eq!(numbers(&result), [2, 1, 1]);
}

#[test]
fn mistakes_are_named() {
    let transcript = transcript(json!([]));
    let functions = Functions::default();
    let fails = |transcript: &Value, policy: Value| {
        block_on(project(transcript, &policy, &functions, &String::new)).expect_err("a mistake")
    };
    let plain = |text: &str| Thrown::Plain(text.to_owned());
    assert_eq!(
        fails(&json!([]), json!("raw")),
        plain("transcript_project: argument must be a transcript")
    );
    assert_eq!(
        fails(&transcript, json!("odd")),
        plain(
            "transcript_project: unknown policy 'odd' (expected raw, clean_tool_repair, squash_failed_calls, summary_prefix, reachability_gc, or custom)"
        )
    );
    assert_eq!(
        fails(&transcript, json!(7)),
        plain("transcript_project: policy must be a string, dict, or closure")
    );
    assert_eq!(
        fails(&transcript, json!("custom")),
        plain("transcript_project: policy 'custom' requires a closure")
    );
    assert_eq!(
        custom(&transcript, json!("odd")).expect_err("a mistake"),
        plain("transcript_project: custom policy must return a message list")
    );
    let needs_function = answer(
        "transcript_project",
        &[transcript, json!("custom")],
        &mut String::new,
    );
    assert_eq!(needs_function, None);
}
