//! Servers that do not behave: each gives a clear error, and can be used again where it should.

use std::time::{Duration, Instant};

use harn_agent::llm::Category;
use harn_agent::tool_servers::{Capabilities, Generation, Listed, ServerFacts};
use harn_mcp::Patience;
use serde_json::{Value, json};

use crate::stage::{Answer, Seen, Stage, StoppedClock, call, described, within_reason};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_command_that_is_not_there_cannot_be_spawned() {
    let config = json!({"name": "it", "command": "/nowhere/at-all"});
    let stage = Stage::of(config, Default::default());
    let error = stage.server.connect().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "failed to spawn '/nowhere/at-all': No such file or directory (os error 2)"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn printing_on_the_output_is_skipped_and_told_once() {
    let stage = Stage::new("noisy", json!({}));
    for _ in 0..3 {
        assert_eq!(
            stage.call("echo", json!({"text": "hi"})).await,
            Ok("hi".to_owned())
        );
    }
    assert_eq!(
        *stage.seen.warnings.lock().unwrap(),
        ["mcp server 'it' writes lines to its output that are no messages; they are skipped"]
    );
}

/// Connects to a server that does not answer until nobody waits for it to say what it can do.
async fn connect_late(stage: &Stage) -> ServerFacts {
    let _clock = StoppedClock::new();
    let giving_up = async {
        // Also who sleeps for no time at all sleeps until the clock moves.
        tokio::time::advance(Duration::from_millis(2)).await;
        stage.seen.heard("notifications/message").await; // It was asked.
        tokio::time::advance(Duration::from_secs(11)).await;
    };
    let (connected, ()) = tokio::join!(stage.server.connect(), giving_up);
    connected.unwrap()
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_may_refuse_the_first_question_later() {
    let stage = Stage::new("late", json!({}));
    let facts = connect_late(&stage).await;
    assert_eq!(facts.generation, Generation::Handshake);
    let said = stage.call("echo", json!({"text": "hi"})).await;
    assert_eq!(said, Ok("hi".to_owned()));
    stage.server.close().await;
}

#[tokio::test]
async fn a_modern_server_that_is_slow_to_start_is_known_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = described("modern", json!({}));
    let args = config["args"].as_array_mut().unwrap();
    args.push(json!(folder.path().join("has-started")));
    let stage = Stage::of(config, Seen::default());
    let facts = connect_late(&stage).await;
    assert_eq!(facts.generation, Generation::Modern);
    assert_eq!(stage.call("hello", json!({})).await, Ok("hello".to_owned()));
    stage.server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nothing_but_garbage_ends_the_connection() {
    let stage = Stage::new("garbage", json!({}));
    let error = stage.server.connect().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "mcp server 'it' wrote 10000 lines in a row that are no messages and was disconnected"
    );
    assert_eq!(error.category(), Category::McpServerError);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_never_answers_has_a_limit() {
    let stage = Stage::new("silent", json!({"connect_timeout_ms": 50}));
    let error = stage.server.connect().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "mcp server 'it' did not answer 'connect' within 50 ms"
    );
    assert_eq!(error.category(), Category::Timeout);
    let stage = Stage::new("deaf", json!({"idle_timeout_ms": 50}));
    let error = stage.call("echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(error, "mcp server 'it' did not answer 'echo' within 50 ms");
    let stage = Stage::new("deaf", json!({"timeout_ms": 500}));
    let error = stage.call("echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(error, "mcp server 'it' did not answer 'echo' within 500 ms");
    // The connection is as good as before.
    assert_eq!(stage.server.list(Listed::Tools).await.unwrap().len(), 14);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_hundred_megabytes_are_refused_and_the_server_is_started_again() {
    let stage = Stage::new("huge", json!({}));
    let error = stage.call("echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(
        error,
        "mcp server 'it' sent a message of more than 16777216 bytes and was disconnected"
    );
    assert_eq!(stage.server.list(Listed::Tools).await.unwrap().len(), 14);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nesting_without_end_is_refused() {
    let stage = Stage::new("deep", json!({}));
    let error = stage.call("echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(
        error,
        "mcp server 'it' sent a message nested deeper than 100 levels and was disconnected"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_answer_that_is_none_fails_its_call() {
    let stage = Stage::new("malformed", json!({}));
    let error = stage.call("echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(
        error,
        "mcp server 'it' answered 'tools/call' with something else"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn answers_for_somebody_else_are_ignored() {
    let stage = Stage::new("plain", json!({}));
    assert_eq!(stage.call("odd", json!({})).await, Ok("odd".to_owned()));
    stage.seen.heard("notifications/never/heard").await;
    assert_eq!(
        stage.call("echo", json!({"text": "hi"})).await,
        Ok("hi".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn pages_without_end_are_refused() {
    let stage = Stage::new("endless", json!({}));
    let error = stage.server.list(Listed::Tools).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "mcp server 'it' never comes to an end of 'tools/list'"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn hostile_names_are_listed_as_they_are_and_the_first_of_two_counts() {
    let stage = Stage::new("duplicates", json!({}));
    let tools = stage.server.list(Listed::Tools).await.unwrap();
    assert_eq!(tools.len(), 17);
    assert_eq!(
        stage.call("echo", json!({"text": "hi"})).await,
        Ok("hi".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_dies_fails_its_calls_and_is_started_again() {
    let stage = Stage::new("plain", json!({"env": {"KEY": "marked-value"}}));
    let error = stage.server.call(call("die", json!({}))).await.unwrap_err();
    assert_eq!(error.category(), Category::McpServerError);
    let error = error.to_string();
    assert!(
        error.starts_with("mcp server 'it' ended before it answered"),
        "{error}"
    );
    assert!(!error.contains("marked-value"), "{error}");
    assert_eq!(
        stage.call("echo", json!({"text": "hi"})).await,
        Ok("hi".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_process_finds_the_harmless_variables_and_its_own() {
    let stage = Stage::new("plain", json!({"env": {"KEY": "value"}}));
    let found = stage.call("env", json!({})).await.unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["KEY"], "value");
    assert!(found["PATH"].is_string());
    assert!(found.get("OTHER").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    let stage = Stage::new("deaf", json!({}));
    stage.server.connect().await.unwrap();
    stage.server.list(Listed::Tools).await.unwrap();
    let calling = stage.server.call(call("echo", json!({"text": "hi"})));
    tokio::select! {
        answered = calling => panic!("{answered:?}"),
        () = stage.seen.heard("notifications/test/called") => {}
    }
    stage.seen.heard("notifications/test/cancelled").await;
    // The connection is as good as before.
    assert_eq!(stage.server.list(Listed::Tools).await.unwrap().len(), 14);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn closing_ends_a_server() {
    let stage = Stage::new("plain", json!({}));
    stage.server.connect().await.unwrap();
    stage.server.close().await;
    assert!(!stage.server.is_connected());
    drop(stage.server);
    // Nobody is left to wait for.
    stage.servers.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn closing_ends_a_server_that_ignores_it() {
    let patience = Patience {
        after_closing: Duration::from_millis(60),
        after_terminating: Duration::from_millis(40),
    };
    let config = described("stubborn", json!({}));
    let stage = Stage::patient(config, Seen::default(), patience);
    stage.server.connect().await.unwrap();
    let begin = Instant::now();
    stage.server.close().await;
    // It has ignored that its input was closed and that it should terminate. Left alone, it
    // would have stayed for half a minute.
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(100), "{took:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert!(!stage.server.is_connected());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_is_still_writing_ends_when_it_is_closed() {
    let patience = Patience {
        after_closing: Duration::from_secs(60),
        after_terminating: Duration::from_secs(60),
    };
    let stage = Stage::patient(described("huge", json!({})), Seen::default(), patience);
    stage.call("echo", json!({"text": "hi"})).await.unwrap_err();
    let begin = Instant::now();
    drop(stage.server);
    stage.servers.finish();
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_tool_that_vanishes_during_its_call_answers_and_is_gone() {
    let stage = Stage::new("curious", json!({}));
    let before = stage.server.list(Listed::Tools).await.unwrap().len();
    let called = stage.call("vanish", json!({})).await;
    assert_eq!(called, Ok("vanished".to_owned()));
    stage.seen.heard("notifications/tools/list_changed").await;
    let again = stage.call("vanish", json!({})).await.unwrap_err();
    assert_eq!(again, "mcp server 'it' has no tool 'vanish'");
    let after = stage.server.list(Listed::Tools).await.unwrap().len();
    assert_eq!(after, before - 1);
}

/// Somebody who fills in forms, later.
fn thoughtful() -> Seen {
    let forms = Capabilities {
        forms: true,
        ..Capabilities::default()
    };
    Seen::able(forms, Answer::Later)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_questions_of_a_round_are_asked_at_once_and_not_too_many_of_them() {
    let stage = Stage::with("modern", json!({}), thoughtful());
    tokio::select! {
        answered = stage.call("pair", json!({})) => panic!("{answered:?}"),
        () = stage.seen.was_asked(2) => {}
    }
    let called = within_reason(stage.server.call(call("crowd", json!({})))).await;
    let error = called.unwrap_err();
    assert_eq!(error.category(), Category::McpServerError);
    assert_eq!(
        error.to_string(),
        "mcp server 'it' asked more than 16 questions at once"
    );
    assert_eq!(stage.seen.asked.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_dies_while_a_person_is_asked_fails_its_call() {
    let stage = Stage::with("modern", json!({}), thoughtful());
    let called = within_reason(stage.server.call(call("leave", json!({})))).await;
    let error = called.unwrap_err();
    assert_eq!(error.category(), Category::McpServerError);
    let error = error.to_string();
    assert!(
        error.starts_with("mcp server 'it' ended before it answered"),
        "{error}"
    );
    stage.seen.took_back().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_question_is_taken_back_when_nobody_waits_for_its_call() {
    let stage = Stage::with("plain", json!({}), thoughtful());
    let calling = stage.server.call(call("ask", json!({})));
    tokio::select! {
        answered = calling => panic!("{answered:?}"),
        () = stage.seen.heard("elicitation/create") => {}
    }
    stage.seen.took_back().await;
    // The connection is as good as before.
    assert_eq!(
        stage.call("echo", json!({"text": "hi"})).await,
        Ok("hi".to_owned())
    );
}
