//! Servers that behave, of both generations.

use std::sync::Arc;

use harn_agent::tool_servers::{Capabilities, Generation, Listed, ServerRequest};
use serde_json::{Value, json};

use crate::stage::{Answer, Seen, Stage, Written, call};

fn names(entries: &[Value]) -> Vec<&str> {
    let names = entries.iter().map(|entry| entry["name"].as_str().unwrap());
    names.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_of_the_handshake_is_found_out_and_used() {
    let stage = Stage::new("plain", json!({}));
    let facts = stage.server.connect().await.unwrap();
    assert_eq!(facts.generation, Generation::Handshake);
    assert_eq!(facts.protocol_version, "2025-11-25");
    assert_eq!(facts.server_info.unwrap()["name"], "test-server");
    assert_eq!(
        stage.call("echo", json!({"text": "hi"})).await,
        Ok("hi".to_owned())
    );
    assert_eq!(stage.call("nothing", json!({})).await, Ok(String::new()));
    assert_eq!(
        stage.call("fail", json!({})).await,
        Err("one\ntwo".to_owned())
    );
    let unknown = stage.call("missing", json!({})).await;
    assert_eq!(
        unknown,
        Err("mcp server 'it' has no tool 'missing'".to_owned())
    );
    stage.server.close().await;
    assert_eq!(
        stage.call("echo", json!({"text": "hi"})).await,
        Err("MCP client is disconnected".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_modern_server_is_found_out_and_used() {
    let stage = Stage::new("modern", json!({}));
    let facts = stage.server.connect().await.unwrap();
    assert_eq!(facts.generation, Generation::Modern);
    assert_eq!(facts.protocol_version, "2026-07-28");
    assert_eq!(facts.instructions.as_deref(), Some("Be kind."));
    assert_eq!(stage.call("hello", json!({})).await, Ok("hello".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_generation_can_be_asked_for() {
    let stage = Stage::new("modern", json!({"protocol": "2025-11-25"}));
    let refused = stage.server.connect().await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no handshake");
    let stage = Stage::new("plain", json!({"protocol": "2026-07-28"}));
    let refused = stage.server.connect().await.unwrap_err();
    assert_eq!(refused.to_string(), "Method not found: server/discover");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_cannot_bear_the_new_question_is_asked_the_old_one() {
    let stage = Stage::new("touchy", json!({}));
    let facts = stage.server.connect().await.unwrap();
    assert_eq!(facts.generation, Generation::Handshake);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn pages_are_hidden() {
    let stage = Stage::new("pages", json!({}));
    let tools = stage.server.list(Listed::Tools).await.unwrap();
    assert_eq!(tools.len(), 14);
    assert_eq!(names(&tools)[..3], ["echo", "fail", "nothing"]);
    let resources = stage.server.list(Listed::Resources).await.unwrap();
    assert_eq!(names(&resources), ["one", "two", "none"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn resources_prompts_and_completions_are_there() {
    let stage = Stage::new("plain", json!({}));
    let read = stage
        .server
        .read_resource("test://two", None)
        .await
        .unwrap();
    assert_eq!(read[1]["blob"], "AA==");
    let missing = stage
        .server
        .read_resource("test://x", None)
        .await
        .unwrap_err();
    assert_eq!(missing.to_string(), "Resource not found");
    let templates = stage.server.list(Listed::ResourceTemplates).await.unwrap();
    assert_eq!(templates[0]["uriTemplate"], "test://{id}");
    let arguments = json!({"who": "Ada"});
    let arguments = arguments.as_object().unwrap().clone();
    let prompt = stage
        .server
        .get_prompt("greet", arguments, None)
        .await
        .unwrap();
    assert_eq!(prompt["messages"][0]["content"]["text"], "Greet Ada");
    assert_eq!(prompt["description"], "A greeting");
    let reference = json!({"type": "ref/prompt", "name": "greet"});
    let completed = stage.server.complete(reference, "who", "A").await.unwrap();
    assert_eq!(completed["values"], json!(["Ax"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn arguments_and_results_fit_their_schemas() {
    let stage = Stage::new("plain", json!({}));
    let wrong = stage.call("echo", json!({})).await.unwrap_err();
    assert_eq!(
        wrong,
        "the arguments of 'echo' do not fit its schema: 'text' is required"
    );
    let result = stage
        .server
        .call(call("sum", json!({"a": 2, "b": 3})))
        .await
        .unwrap();
    assert_eq!(result.structured, Some(json!({"sum": 5})));
    let lie = stage.call("lie", json!({})).await.unwrap_err();
    assert_eq!(
        lie,
        "mcp server 'it' gave a result of 'lie' that does not fit its schema: 'sum' is required"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn progress_is_told_to_the_session_that_waits() {
    let stage = Stage::new("plain", json!({}));
    assert_eq!(stage.call("slow", json!({})).await, Ok("done".to_owned()));
    stage.seen.heard("notifications/progress").await;
    let notices = stage.seen.notices.lock().unwrap();
    assert_eq!(notices[0].params["total"], 3.0);
    assert_eq!(notices[0].session_id.as_deref(), Some("s"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_list_that_changes_is_listed_again() {
    for generation in ["plain", "modern"] {
        let stage = Stage::new(generation, json!({}));
        stage.server.list(Listed::Tools).await.unwrap();
        let before = stage.server.catalogue_version();
        assert_eq!(stage.call("grow", json!({})).await, Ok("grown".to_owned()));
        stage.seen.heard("notifications/tools/list_changed").await;
        assert!(stage.server.catalogue_version() > before, "{generation}");
        let tools = stage.server.list(Listed::Tools).await.unwrap();
        assert_eq!(names(&tools).last(), Some(&"grown"), "{generation}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_says_how_long_a_list_is_good() {
    let stage = Stage::new("modern", json!({}));
    let first = stage.server.list(Listed::Tools).await.unwrap();
    let second = stage.server.list(Listed::Tools).await.unwrap();
    assert_eq!(first[0]["title"], "list 1");
    assert_eq!(second[0]["title"], "list 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_call_is_part_of_a_trace() {
    let stage = Stage::new("plain", json!({}));
    let mut traced = call("meta", json!({}));
    traced.traceparent = Some("00-aa-bb-01".to_owned());
    let result = stage.server.call(traced).await.unwrap();
    assert_eq!(result.text(), "00-aa-bb-01");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn questions_go_to_people_only_if_there_are_any() {
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let stage = Stage::with("plain", json!({}), Seen::person(answer.clone()));
    let said = stage.call("ask", json!({})).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), answer);
    assert_eq!(stage.seen.methods(), ["elicitation/create"]);
    assert!(matches!(
        &stage.seen.asked.lock().unwrap()[..],
        [ServerRequest::Elicit(_)]
    ));
    // Nobody is there: the server gets an error, and goes on.
    let stage = Stage::new("plain", json!({}));
    let said = stage.call("ask", json!({})).await.unwrap();
    assert!(said.contains("nobody is here"), "{said}");
}

/// What a server of the handshake hears about us.
async fn announced(capabilities: Capabilities) -> Value {
    let stage = Stage::with(
        "curious",
        json!({}),
        Seen::able(capabilities, Answer::Nobody),
    );
    let told = stage.call("told", json!({})).await.unwrap();
    let mut told: Value = serde_json::from_str(&told).unwrap();
    // Tasks are waited for whoever asks.
    let extensions = told.as_object_mut().unwrap().remove("extensions").unwrap();
    assert_eq!(extensions, json!({"io.modelcontextprotocol/tasks": {}}));
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_is_told_what_it_may_ask_for_and_nothing_else() {
    let nothing = Capabilities::default();
    assert_eq!(announced(nothing).await, json!({}));
    let sampling = Capabilities {
        sampling: true,
        ..nothing
    };
    assert_eq!(announced(sampling).await, json!({"sampling": {}}));
    let roots = Capabilities {
        roots: true,
        ..nothing
    };
    assert_eq!(announced(roots).await, json!({"roots": {}}));
    let people = Capabilities {
        forms: true,
        urls: true,
        ..nothing
    };
    assert_eq!(
        announced(people).await,
        json!({"elicitation": {"form": {}, "url": {}}})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_may_ask_a_model_if_somebody_lets_it() {
    let answer = json!({
        "role": "assistant", "content": {"type": "text", "text": "Hi."}, "model": "m",
        "stopReason": "endTurn",
    });
    let sampling = Capabilities {
        sampling: true,
        ..Capabilities::default()
    };
    let seen = Seen::able(sampling, Answer::Said(answer.clone()));
    let stage = Stage::with("curious", json!({}), seen);
    let said = stage.call("sample", json!({})).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), answer);
    let asked = stage.seen.asked.lock().unwrap().clone();
    let [ServerRequest::Sample(params)] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(params["messages"][0]["content"]["text"], "Hello?");
    assert_eq!(params["maxTokens"], 7);
    // A server that asks all the same is refused, and goes on.
    let stage = Stage::new("curious", json!({}));
    let said = stage.call("sample", json!({})).await.unwrap();
    assert!(said.contains("nobody is here"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_may_know_our_folders_if_somebody_lets_it() {
    let roots = Capabilities {
        roots: true,
        ..Capabilities::default()
    };
    let answer = json!({"roots": [{"uri": "file:///project"}]});
    let seen = Seen::able(roots, Answer::Said(answer.clone()));
    let stage = Stage::with("curious", json!({}), seen);
    let said = stage.call("roots", json!({})).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), answer);
    let stage = Stage::new("curious", json!({}));
    let said = stage.call("roots", json!({})).await.unwrap();
    assert!(said.contains("nobody is here"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_round_is_written_down_before_it_is_answered() {
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let stage = Stage::with("modern", json!({}), Seen::person(answer.clone()));
    let written = Arc::new(Written::default());
    let mut asked = call("ask", json!({}));
    asked.journal = Some(Arc::clone(&written) as _);
    let result = stage.server.call(asked).await.unwrap();
    let said: Value = serde_json::from_str(&result.text()).unwrap();
    assert_eq!(said, json!([{"who": answer}, "state-1"]));
    let written = written.0.lock().unwrap();
    assert_eq!(written[0]["request_state"], "state-1");
    assert_eq!(
        written[0]["input_requests"]["who"]["method"],
        "elicitation/create"
    );
    assert_eq!(written[1], json!({"input_responses": {"who": answer}}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_cannot_ask_for_ever() {
    let stage = Stage::with(
        "modern",
        json!({}),
        Seen::person(json!({"action": "decline"})),
    );
    let error = stage.call("badger", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        "mcp server 'it' asked more than 10 times before it answered"
    );
    assert_eq!(stage.seen.asked.lock().unwrap().len(), 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_task_is_waited_for_and_can_be_taken_up_again() {
    let stage = Stage::new("modern", json!({}));
    let written = Arc::new(Written::default());
    let mut begun = call("work", json!({}));
    begun.journal = Some(Arc::clone(&written) as _);
    let result = stage.server.call(begun).await.unwrap();
    assert_eq!(result.text(), "worked on task-1");
    assert_eq!(*written.0.lock().unwrap(), [json!({"task": "task-1"})]);
    let mut resumed = call("work", json!({}));
    resumed.task_id = Some("task-old".to_owned());
    let result = stage.server.call(resumed).await.unwrap();
    assert_eq!(result.text(), "worked on task-old");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_task_may_ask_before_it_goes_on() {
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let stage = Stage::with("modern", json!({}), Seen::person(answer));
    let worked = stage.call("doubt", json!({})).await;
    assert_eq!(worked, Ok("worked on doubt-1".to_owned()));
    assert_eq!(stage.seen.asked.lock().unwrap().len(), 1);
}
