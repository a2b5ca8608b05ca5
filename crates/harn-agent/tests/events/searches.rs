//! Searches among tools that are held back.

use harn_events::MutationSessionRecord;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying};

fn tools() -> Value {
    let tool = |name: &str, description: &str, deferred: bool| {
        json!({
            "name": name, "description": description, "parameters": {}, "executor": "harn",
            "defer_loading": deferred, "handler": null,
        })
    };
    json!([
        tool("look", "Looks.", false),
        tool("light", "Lights a lamp.", true)
    ])
}

#[tokio::test(start_paused = true)]
async fn we_search_where_the_provider_does_not() {
    let search = calling("__harn_tool_search", json!({"query": "lamp"}));
    let stage = Stage::proving(
        &["tool_search_query", "tool_search_result"],
        &[search, saying("Fine.")],
    );
    let options = json!({
        "tools": tools(), "tool_format": "native",
        "tool_search": {"mode": "client", "strategy": "bm25"},
    });
    let mut request = request(options);
    for at in 0..2 {
        let handler = |_: Vec<Value>| Ok(json!("fine"));
        let path = format!("/tools/{at}/handler");
        request.functions.insert(path, std::sync::Arc::new(handler));
    }
    stage.run_with(request).await.unwrap();
    let query = stage.one("tool_search_query");
    assert_eq!(
        query,
        json!({
            "type": "tool_search_query", "session_id": SESSION, "tool_use_id": "mock_call_1",
            "name": query["name"], "query": {"query": "lamp"}, "strategy": "bm25",
            "mode": "client",
        })
    );
    assert_eq!(
        stage.one("tool_search_result"),
        json!({
            "type": "tool_search_result", "session_id": SESSION, "tool_use_id": "mock_call_1",
            "promoted": ["light"], "strategy": "bm25", "mode": "client",
        })
    );
    let story = stage.story();
    let at = |kind: &str| story.iter().position(|one| one == kind).unwrap();
    assert!(at("@pre_tool_dispatch") < at("tool_search_query"));
    assert!(at("tool_search_query") < at("tool_search_result"));
    assert!(at("tool_search_result") < at("iteration_end"));
}

fn anthropic() -> Value {
    json!({
        "provider": "anthropic", "model": "claude-sonnet-4-7", "tools": tools(),
        "tool_search": {"mode": "native"}, "tool_format": "native",
    })
}

/// A turn in which the provider searches and then says something.
fn searching(result: Value) -> Vec<Value> {
    let block = |index: u64, block: Value| {
        [
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 1});
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [],
        "usage": usage,
    });
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let input = json!({"query": "lamp"});
    events.extend(block(
        0,
        json!({
            "type": "server_tool_use", "id": "srv1", "name": "tool_search_tool_bm25",
            "input": input,
        }),
    ));
    events.extend(block(
        1,
        json!({"type": "tool_search_tool_result", "tool_use_id": "srv1", "content": result}),
    ));
    events.extend([
        json!({"type": "content_block_start", "index": 2,
               "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 2,
               "delta": {"type": "text_delta", "text": "Fine."}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
               "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]);
    events
}

async fn run_native(stage: &Stage, result: Value) {
    stage.network.say(&searching(result));
    let mut request = request(anthropic());
    for at in 0..2 {
        let handler = |_: Vec<Value>| Ok(json!("fine"));
        let path = format!("/tools/{at}/handler");
        request.functions.insert(path, std::sync::Arc::new(handler));
    }
    stage.run_with(request).await.unwrap();
}

/// What the provider searched for by itself is told like a call that it has run.
#[tokio::test(start_paused = true)]
async fn a_search_of_the_provider_is_told_too() {
    let stage = Stage::proving_online(&[
        "tool_search_query",
        "tool_search_result",
        "tool_call",
        "tool_call_update",
    ]);
    let reference = json!({"type": "tool_reference", "tool_name": "light"});
    let found = json!({"type": "tool_search_tool_search_result", "tool_references": [reference]});
    let record = MutationSessionRecord {
        session_id: "session_1".to_owned(),
        ..MutationSessionRecord::default()
    };
    let bus = stage.runtime.bus();
    let run = async {
        let _audit = bus.enter_mutation_session(record);
        run_native(&stage, found).await;
    };
    bus.scope_loop_sink(None, run).await;
    let query = stage.one("tool_search_query");
    assert_eq!(
        (&query["tool_use_id"], &query["mode"]),
        (&json!("srv1"), &json!("anthropic"))
    );
    assert_eq!(query["name"], "tool_search_tool_bm25");
    let result = stage.one("tool_search_result");
    assert_eq!(
        (&result["tool_use_id"], &result["promoted"]),
        (&json!("srv1"), &json!(["light"]))
    );
    let call = stage.one("tool_call");
    assert_eq!(
        (&call["tool_call_id"], &call["kind"]),
        (&json!("provider-srv1"), &json!("search"))
    );
    assert_eq!(call["status"], "in_progress");
    let update = stage.one("tool_call_update");
    assert_eq!(
        (&update["tool_call_id"], &update["status"]),
        (&json!("provider-srv1"), &json!("completed"))
    );
    assert_eq!(update["executor"], json!({"kind": "provider_native"}));
    assert_eq!(call["audit"]["session_id"], "session_1");
    assert_eq!(update["audit"], call["audit"]);
    let plot: Vec<String> = stage.plot();
    let plot: Vec<&str> = plot
        .iter()
        .map(String::as_str)
        .filter(|one| *one != "agent_message_chunk")
        .collect();
    assert_eq!(
        plot,
        [
            "tool_search_query",
            "tool_call",
            "tool_search_result",
            "tool_call_update completed",
        ]
    );
}

/// A search that fails at the provider ends as well.
#[tokio::test(start_paused = true)]
async fn a_failed_search_of_the_provider_ends() {
    let stage = Stage::proving_online(&["tool_search_query", "tool_search_result"]);
    run_native(
        &stage,
        json!({"type": "tool_search_tool_result_error", "error_code": "unavailable"}),
    )
    .await;
    let result = stage.one("tool_search_result");
    assert_eq!(
        (&result["tool_use_id"], &result["promoted"]),
        (&json!("srv1"), &json!([]))
    );
    let update = stage.one("tool_call_update");
    assert_eq!(update["tool_call_id"], "provider-srv1");
    assert!(update["error_category"].as_str() != Some("abandoned_at_loop_exit"));
}

/// A host that is asked to search: what it finds, what it does not know, and what becomes of
/// its failures.
#[tokio::test(start_paused = true)]
async fn a_host_may_search() {
    let rows = [
        (
            Ok(json!({"tool_names": ["light", "unheard-of", "look"]})),
            json!(["light"]),
        ),
        (
            Ok(json!({"tool_names": [], "diagnostic": "asleep"})),
            json!([]),
        ),
        (Err("gone"), json!([])),
    ];
    for (answer, promoted) in rows {
        for strategy in ["host", "semantic"] {
            let search = calling("__harn_tool_search", json!({"query": "lamp"}));
            let stage = Stage::proving_with_host(
                &["tool_search_query", "tool_search_result"],
                &[search, saying("Fine.")],
            );
            stage.host.will_answer("tool_search/query", answer.clone());
            let options = json!({
                "tools": tools(), "tool_format": "native",
                "tool_search": {"mode": "client", "strategy": strategy},
            });
            let mut request = request(options);
            for at in 0..2 {
                let handler = |_: Vec<Value>| Ok(json!("fine"));
                let path = format!("/tools/{at}/handler");
                request.functions.insert(path, std::sync::Arc::new(handler));
            }
            let result = stage.run_with(request).await.unwrap();
            assert_eq!(stage.one("tool_search_query")["strategy"], strategy);
            let found = stage.one("tool_search_result");
            assert_eq!(
                (&found["promoted"], &found["strategy"]),
                (&promoted, &json!(strategy))
            );
            let told = result["transcript"]["messages"][2]["content"]
                .as_str()
                .unwrap();
            let told: Value = serde_json::from_str(told).unwrap();
            assert_eq!(told["tool_names"], promoted);
            assert_eq!(told["diagnostic"].is_null(), promoted == json!(["light"]));
        }
    }
}
