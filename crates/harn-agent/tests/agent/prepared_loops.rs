//! Loops that are made ready once and run many times.

use std::sync::Arc;

use harn_agent::llm::{desk::Desk, scenario::Scenario};
use harn_agent::{FunctionTool, LoopRequest, LoopResult, Runtime, RuntimeOptions, Tool};
use serde_json::{Value, json};

const SCRIPT: &str = r#"
[[turn]]
when = "wait*"
repeat = true
call = [
  { tool = "agent_await_resumption", arguments = { reason = "a person" } },
  { tool = "stock", arguments = { item = "much" } },
]
[[turn]]
when = "stock*"
repeat = true
call = [{ tool = "stock", arguments = { item = "milk" } }]
[[turn]]
repeat = true
text = "So it is."
"#;

fn runtime() -> Arc<Runtime> {
    let desk = Desk::staged(Scenario::parse("shop", SCRIPT).unwrap());
    Runtime::new(Arc::new(desk), RuntimeOptions::default())
}

fn stock() -> Arc<dyn Tool> {
    let parameters = json!({"item": "string"});
    FunctionTool::new("stock", "How many are left.", parameters, |call| {
        let pauses = if call["item"] == "much" { 100 } else { 1 };
        Box::pin(async move {
            for _ in 0..pauses {
                tokio::task::yield_now().await;
            }
            Ok("2".to_owned())
        })
    })
}

fn asked() -> LoopRequest {
    LoopRequest::default()
        .option("tool_format", "native")
        .tool(stock())
}

/// What users said in the session of a loop.
fn said(result: &LoopResult) -> Vec<String> {
    result.session().read(|state| {
        let said = state.messages.iter();
        let said = said.filter(|message| message["role"] == "user");
        let said = said.filter_map(|message| message["content"].as_str());
        said.map(str::to_owned).collect()
    })
}

#[tokio::test]
async fn each_run_is_about_its_own_prompt_in_a_session_of_its_own() {
    let agent = runtime().prepare(asked()).unwrap();
    let first = agent.run("stock?").await.unwrap();
    let second = agent.run("anything else?").await.unwrap();
    assert_eq!(
        (said(&first), said(&second)),
        (vec!["stock?".to_owned()], vec!["anything else?".to_owned()])
    );
    assert_eq!((first.tools_used.len(), second.tools_used.len()), (1, 0));
    assert_ne!(first.session().id(), second.session().id());
}

#[tokio::test]
async fn runs_in_a_named_session_are_one_conversation() {
    let agent = runtime()
        .prepare(asked().option("session_id", "talk"))
        .unwrap();
    agent.run("stock?").await.unwrap();
    let last = agent.run("and now?").await.unwrap();
    assert_eq!(said(&last), ["stock?", "and now?"]);
}

#[tokio::test]
async fn given_messages_begin_every_run() {
    let messages = json!([{"role": "user", "content": "given"}]);
    let agent = runtime()
        .prepare(asked().option("messages", messages))
        .unwrap();
    for _ in 0..2 {
        assert_eq!(said(&agent.run("not heard").await.unwrap()), ["given"]);
    }
}

#[tokio::test]
async fn a_run_that_waits_for_somebody_leaves_nothing_to_the_next() {
    let request = asked().option("agent_await_resumption", true);
    let agent = runtime().prepare(request).unwrap();
    assert_eq!(agent.run("wait").await.unwrap().status, "suspended");
    assert_eq!(agent.run("go on").await.unwrap().status, "done");
}

/// The second ends while the first, which has said that it waits, still counts.
#[tokio::test]
async fn a_run_that_waits_for_somebody_stops_nobody_beside_it() {
    let request = asked().option("agent_await_resumption", true);
    let agent = runtime().prepare(request).unwrap();
    let (waits, goes_on) = tokio::join!(agent.run("wait"), agent.run("stock?"));
    let statuses = [waits, goes_on].map(|result| result.unwrap().status);
    assert_eq!(statuses, ["suspended", "done"]);
}

#[tokio::test]
async fn policies_are_checked_in_each_run() {
    let request = asked().option("policy", json!({"tools": ["something else"]}));
    let agent = runtime().prepare(request).unwrap();
    for _ in 0..2 {
        assert_eq!(agent.run("stock?").await.unwrap().rejected, ["stock"]);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_loop_is_told_when_it_is_made_ready() {
    let request = asked().option("progress_tool", Value::from("yes"));
    let Err(thrown) = runtime().prepare(request) else {
        panic!("it was made ready");
    };
    assert_eq!(
        thrown.to_string(),
        "agent_loop: progress_tool must be true, false, a dict, or nil"
    );
}
