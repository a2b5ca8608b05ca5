//! What a person says while a loop runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use harn_vm::agent::log::EventLog;
use harn_vm::agent::{HostBridge, Seam};
use serde_json::{Value, json};

use super::super::{EditorHost, Told, handle_extension};
use super::operator;
use super::{FakePeer, Reply, facts, host, host_with};

const SEAMS: [Seam; 7] = [
    Seam::IterationStart,
    Seam::PreToolDispatch,
    Seam::PostToolDispatch,
    Seam::IterationEnd,
    Seam::Idle,
    Seam::Completion,
    Seam::LoopExit,
];

fn nobody() -> Arc<FakePeer> {
    FakePeer::new(json!({}), |_, _| Reply::Never)
}

async fn say(host: &Arc<EditorHost>, content: &str, mode: &str) -> Value {
    let parameters = json!({"sessionId": "s", "content": content, "mode": mode});
    let said = handle_extension(host, Told::Input, &parameters, &operator()).await;
    said.expect("it is taken")
}

/// What is heard at a seam by a session that has heard nothing.
fn heard(host: &Arc<EditorHost>, seam: Seam) -> Vec<Value> {
    let inputs = host.take_inputs("s", seam, &|_| false).into_iter();
    inputs.map(|input| input.content).collect()
}

#[tokio::test(start_paused = true)]
async fn each_mode_has_its_seams() {
    let rows = [
        (
            "interrupt_immediate",
            [true, true, true, true, true, true, false],
        ),
        ("interrupt", [true, true, true, true, true, true, false]),
        ("finish_step", [true, false, true, true, true, true, false]),
        (
            "after_current_operation",
            [true, false, true, true, true, true, false],
        ),
        (
            "wait_for_completion",
            [false, false, false, false, true, true, false],
        ),
    ];
    for (mode, expected) in rows {
        let host = host(&nobody()).await;
        say(&host, "hi", mode).await;
        let found = SEAMS.map(|seam| !heard(&host, seam).is_empty());
        assert_eq!(found, expected, "{mode}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_is_heard_once_by_its_own_session_and_in_order() {
    let host = host(&nobody()).await;
    let first = say(&host, "one", "finish_step").await;
    let second = say(&host, "two", "finish_step").await;
    assert!(first["index"].as_u64() < second["index"].as_u64());
    assert!(
        host.take_inputs("child", Seam::IterationStart, &|_| false)
            .is_empty()
    );
    assert_eq!(heard(&host, Seam::IterationStart), ["one", "two"]);
    // A loop that was stopped before it said them has not heard them.
    assert_eq!(heard(&host, Seam::IterationStart), ["one", "two"]);
    let said = first["messageId"].as_str().unwrap().to_owned();
    let left = host.take_inputs("s", Seam::IterationStart, &|id| id == said);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].content, "two");
    assert_eq!(left[0].mode, Some("finish_step"));
}

#[tokio::test(start_paused = true)]
async fn inputs_survive_the_process_and_are_not_heard_again() {
    let facts = facts(Vec::new());
    let before = host_with(&nobody(), facts.clone()).await;
    let heard_before = say(&before, "heard", "finish_step").await;
    let waiting = say(&before, "waiting", "finish_step").await;
    drop(before);
    let after = host_with(&nobody(), facts.clone()).await;
    let journal = BTreeSet::from([heard_before["messageId"].as_str().unwrap().to_owned()]);
    let inputs = after.take_inputs("s", Seam::IterationStart, &|id| journal.contains(id));
    assert_eq!(inputs.len(), 1);
    assert_eq!(inputs[0].content, "waiting");
    assert_eq!(inputs[0].id.as_deref(), waiting["messageId"].as_str());
    // What was acknowledged is in the log, at the index that was told.
    let topic = harn_vm::agent::log::Topic::new("agent_session_inputs.s").unwrap();
    let records = facts.log.read_range(&topic, None, 10).await.unwrap();
    let indexes: Vec<_> = records.iter().map(|(index, _)| json!(index)).collect();
    assert_eq!(
        indexes,
        [heard_before["index"].clone(), waiting["index"].clone()]
    );
}

#[tokio::test(start_paused = true)]
async fn an_input_that_is_sent_twice_is_one() {
    let host = host(&nobody()).await;
    let parameters = json!({"sessionId": "s", "content": "once", "messageId": "m1"});
    let first = handle_extension(&host, Told::Input, &parameters, &operator()).await;
    let again = handle_extension(&host, Told::Input, &parameters, &operator()).await;
    assert_eq!(first, again);
    assert_eq!(heard(&host, Seam::IterationStart), ["once"]);
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused() {
    let host = host(&nobody()).await;
    let rows = [
        (
            json!({"content": "x", "mode": "soon"}),
            "`mode` is `soon`; it may be",
        ),
        (json!({"content": "x", "mode": 1}), "`mode` is no text"),
        (json!({"content": " "}), "`content` says nothing"),
        (json!({}), "`content` says nothing"),
        (
            json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}]}),
            "block 1 of",
        ),
    ];
    for (parameters, expected) in rows {
        let refused = handle_extension(&host, Told::Input, &parameters, &operator()).await;
        let refused = refused.expect_err("it makes no sense");
        assert_eq!(refused.code, -32602);
        assert!(refused.message.starts_with(expected), "{refused}");
    }
    assert!(heard(&host, Seam::Completion).is_empty());
}

#[tokio::test(start_paused = true)]
async fn blocks_of_text_are_a_text() {
    let host = host(&nobody()).await;
    let blocks = json!([
        {"type": "text", "text": "look at"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
    ]);
    let told = handle_extension(&host, Told::Input, &json!({"content": blocks}), &operator()).await;
    assert!(told.is_ok());
    assert_eq!(heard(&host, Seam::IterationEnd), ["look at\n<file:///a>"]);
}
