//! Calls of tools: their beginning, their end, and every way to fail.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use harn_agent::llm::Category;
use harn_agent::{BoxFuture, FunctionTool, LoopRequest, ToolError};
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool, tool_doing};

#[tokio::test(start_paused = true)]
async fn a_call_starts_runs_and_completes() {
    let answers = [calling("look", json!({"path": "a"})), saying("Fine.")];
    let stage = Stage::proving(&["tool_call", "tool_call_update"], &answers);
    let clock = stage.clock();
    let slow = tool_doing("look", move || {
        clock.fetch_add(30, Ordering::Relaxed);
        Ok("a lamp".to_owned())
    });
    stage.run_with(request(json!({})).tool(slow)).await.unwrap();
    let plot = [
        "tool_call",
        "tool_call_update in_progress",
        "tool_call_update completed",
        "agent_message_chunk",
    ];
    assert_eq!(stage.plot(), plot);
    assert_eq!(
        stage.one("tool_call"),
        json!({
            "type": "tool_call", "session_id": SESSION, "tool_call_id": "tool-mock_call_1",
            "tool_name": "look", "kind": null, "status": "pending", "raw_input": {"path": "a"},
        })
    );
    let updates = stage.of_type("tool_call_update");
    assert_eq!(
        updates[0],
        json!({
            "type": "tool_call_update", "session_id": SESSION, "tool_call_id": "tool-mock_call_1",
            "tool_name": "look", "status": "in_progress", "raw_output": null, "error": null,
            "executor": {"kind": "harn_builtin"},
        })
    );
    assert_eq!(
        updates[1],
        json!({
            "type": "tool_call_update", "session_id": SESSION, "tool_call_id": "tool-mock_call_1",
            "tool_name": "look", "status": "completed", "error": null,
            "raw_output": {"text": "a lamp", "tool_use_id": "mock_call_1"}, "duration_ms": 30,
            "execution_duration_ms": 30, "executor": {"kind": "harn_builtin"},
        })
    );
}

/// Models and servers number their calls from the start in every answer.
#[tokio::test(start_paused = true)]
async fn an_id_that_is_closed_may_begin_again() {
    let look = || calling("look", json!({}));
    let answers = [look(), look(), saying("So."), look(), saying("So.")];
    let stage = Stage::proving(&["tool_call"], &answers);
    for _ in 0..2 {
        let request = request(json!({})).tool(tool("look", Ok("a lamp")));
        stage.run_with(request).await.unwrap();
    }
    let starts = stage.of_type("tool_call");
    let ids: Vec<_> = starts
        .iter()
        .map(|start| start["tool_call_id"].clone())
        .collect();
    assert_eq!(
        json!(ids),
        json!(["tool-mock_call_1", "tool-mock_call_1", "tool-mock_call_1"])
    );
}

/// What becomes of a call of `look`.
async fn ending(stage: &Stage, request: LoopRequest) -> Value {
    stage.run_with(request).await.unwrap();
    let mut updates = stage.of_type("tool_call_update");
    assert_eq!(stage.of_type("tool_call").len(), 1);
    updates.pop().unwrap()
}

fn failing(category: Category) -> ToolError {
    ToolError::Backend {
        category,
        message: "gone".to_owned(),
    }
}

/// The class of a failure that the tool or its backend reports.
#[tokio::test(start_paused = true)]
async fn a_call_that_ran_and_failed_has_a_class() {
    let rows = [
        (Ok("Error: no lamp"), "tool_error", "Error: no lamp"),
        (Ok("ERROR: no lamp"), "tool_error", "ERROR: no lamp"),
        (
            Err(ToolError::Failed("no lamp".to_owned())),
            "tool_error",
            "Error: no lamp",
        ),
        (
            Err(ToolError::Rejected("not yours".to_owned())),
            "permission_denied",
            "not yours",
        ),
        (Err(failing(Category::Timeout)), "timeout", "gone"),
        (Err(failing(Category::TransientNetwork)), "network", "gone"),
        (Err(failing(Category::Overloaded)), "network", "gone"),
        (
            Err(failing(Category::SchemaValidation)),
            "schema_validation",
            "gone",
        ),
        (Err(failing(Category::ToolError)), "tool_error", "gone"),
        (Err(failing(Category::Cancelled)), "cancelled", "gone"),
        (
            Err(failing(Category::ToolRejected)),
            "permission_denied",
            "gone",
        ),
        (Err(failing(Category::Generic)), "host_bridge_error", "gone"),
    ];
    for (result, class, error) in rows {
        let answers = [calling("look", json!({})), saying("Fine.")];
        let stage = Stage::proving(&["tool_call_update"], &answers);
        let end = ending(&stage, request(json!({})).tool(tool("look", result))).await;
        assert_eq!(end["status"], "failed", "{class}");
        assert_eq!(end["error_category"], class);
        assert_eq!(end["error"], error);
        assert_eq!(end["executor"], json!({"kind": "harn_builtin"}));
        assert!(end["duration_ms"].is_u64());
    }
}

/// A tool that panics has failed like any other.
#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_of_the_tool() {
    let answers = [calling("look", json!({})), saying("Fine.")];
    let stage = Stage::proving(&["tool_call_update"], &answers);
    let panicking = tool_doing("look", || panic!("the lamp fell"));
    let end = ending(&stage, request(json!({})).tool(panicking)).await;
    assert_eq!(end["error_category"], "tool_error");
    assert_eq!(end["error"], "Error: the tool panicked: the lamp fell");
}

/// A call that is refused has a start and an end, and never runs.
#[tokio::test(start_paused = true)]
async fn a_refused_call_has_a_start_and_an_end() {
    let needed = json!({"tools": [{
        "name": "look", "description": "Looks.", "parameters": {"path": "string"},
        "executor": "harn", "handler": null,
    }]});
    let rows = [
        (json!({"policy": {"tools": ["other"]}}), "permission_denied"),
        (
            json!({"permissions": {"deny": ["look"]}}),
            "permission_denied",
        ),
        (
            json!({"approval_policy": {"auto_deny": ["look"]}}),
            "permission_denied",
        ),
        (
            json!({"approval_policy": {"require_approval": ["look"]}}),
            "permission_denied",
        ),
        (needed, "schema_validation"),
    ];
    for (options, class) in rows {
        let answers = [calling("look", json!({})), saying("Fine.")];
        let stage = Stage::proving(&["tool_call", "tool_call_update"], &answers);
        let mut request = request(options.clone());
        let handler = |_: Vec<Value>| Ok(json!("a lamp"));
        match options.get("tools") {
            Some(_) => request
                .functions
                .insert("/tools/0/handler", Arc::new(handler)),
            None => request = request.tool(tool("look", Ok("a lamp"))),
        }
        let end = ending(&stage, request).await;
        assert_eq!(end["status"], "failed", "{options}");
        assert_eq!(end["error_category"], class, "{options}");
        let plot = [
            "tool_call",
            "tool_call_update failed",
            "agent_message_chunk",
        ];
        assert_eq!(stage.plot(), plot, "{options}");
        // No backend was chosen and nothing was run.
        for key in ["executor", "duration_ms", "execution_duration_ms"] {
            assert_eq!(end.get(key), None, "{key}");
        }
        assert_eq!(end["raw_output"], Value::Null);
    }
}

/// The same call with the same result over and over is not made in the end.
#[tokio::test(start_paused = true)]
async fn a_repeated_call_is_rejected() {
    let answers: Vec<Value> = (0..5).map(|_| calling("look", json!({}))).collect();
    let stage = Stage::proving(&["tool_call_update"], &answers);
    let request = request(json!({"max_iterations": 5})).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    assert_eq!(stage.of_type("tool_call").len(), 5);
    let updates = stage.of_type("tool_call_update");
    let rejected: Vec<&Value> = updates
        .iter()
        .filter(|update| update["error_category"] == "rejected_loop")
        .collect();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["status"], "failed");
    assert!(rejected[0]["raw_output"].is_object());
    assert_eq!(rejected[0].get("executor"), None);
}

/// Who runs a tool is told with it.
#[tokio::test(start_paused = true)]
async fn a_call_names_who_runs_it() {
    let declared = |executor: Value| {
        let mut tool = json!({"name": "look", "description": "Looks.", "parameters": {}});
        for (key, value) in executor.as_object().unwrap() {
            tool[key] = value.clone();
        }
        json!({"tools": [tool]})
    };
    let rows = [
        (
            json!({"executor": "host_bridge", "host_capability": "eyes"}),
            json!({"kind": "host_bridge"}),
        ),
        (
            json!({"executor": "mcp_server", "mcp_server": "lamps"}),
            json!({"kind": "mcp_server", "server_name": "lamps"}),
        ),
    ];
    for (executor, told) in rows {
        let answers = [calling("look", json!({})), saying("Fine.")];
        let stage = Stage::proving_with_host(&["tool_call_update"], &answers);
        stage.host.will_answer("builtin_call", Ok(json!("a lamp")));
        let end = ending(&stage, request(declared(executor.clone()))).await;
        assert_eq!(end["executor"], told, "{executor}");
        assert_eq!(end["status"], "completed");
        let stage = Stage::proving_with_host(&["tool_call_update"], &answers);
        stage.host.will_answer("builtin_call", Err("no eyes"));
        let end = ending(&stage, request(declared(executor))).await;
        assert_eq!(
            (&end["status"], &end["error"]),
            (&json!("failed"), &json!("no eyes"))
        );
        assert_eq!(end["error_category"], "host_bridge_error");
    }
}

/// Calls that only read pass the gates together and end in order.
#[tokio::test(start_paused = true)]
async fn calls_that_only_read_run_together() {
    let calls: Vec<Value> = ["a", "b"]
        .iter()
        .map(|path| json!({"name": "look", "arguments": {"path": path}}))
        .collect();
    let answers = [json!({"text": "", "tool_calls": calls}), saying("Fine.")];
    let stage = Stage::proving(&["tool_call", "tool_call_update"], &answers);
    let mut request = request(json!({"tools": [{
        "name": "look", "description": "Looks.", "parameters": {"path": "string"},
        "annotations": {"kind": "read"}, "handler": null,
    }]}));
    let handler = |_: Vec<Value>| Ok(json!("a lamp"));
    request
        .functions
        .insert("/tools/0/handler", Arc::new(handler));
    stage.run_with(request).await.unwrap();
    let told = stage.events();
    let told: Vec<(&str, &str)> = told
        .iter()
        .filter_map(|event| {
            let id = event["tool_call_id"].as_str()?;
            Some((id, event["status"].as_str()?))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("tool-mock_call_1", "pending"),
            ("tool-mock_call_1", "in_progress"),
            ("tool-mock_call_2", "pending"),
            ("tool-mock_call_2", "in_progress"),
            ("tool-mock_call_1", "completed"),
            ("tool-mock_call_2", "completed"),
        ]
    );
    assert!(
        stage
            .of_type("tool_call")
            .iter()
            .all(|call| call["kind"] == "read")
    );
}

/// A plan is told after the call that made it.
#[tokio::test(start_paused = true)]
async fn a_plan_follows_its_call() {
    let steps = json!({"steps": [{"content": "Find the lamp", "status": "pending"}]});
    let answers = [calling("emit_plan", steps), saying("Fine.")];
    let stage = Stage::proving(&["plan"], &answers);
    let tools = json!([{"name": "emit_plan", "description": "Plans.", "parameters": {}}]);
    stage.run(json!({"tools": tools})).await;
    let plot = [
        "tool_call",
        "tool_call_update in_progress",
        "tool_call_update completed",
        "plan",
        "agent_message_chunk",
    ];
    assert_eq!(stage.plot(), plot);
    let plan = stage.one("plan");
    assert_eq!(plan["session_id"], SESSION);
    assert_eq!(plan["plan"]["schema_version"], "harn.plan.v1");
    assert_eq!(plan["plan"]["steps"][0]["content"], "Find the lamp");
}

/// A tool that waits for ever. The person who waits loses patience.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_closes_what_it_has_opened() {
    let answers = [calling("look", json!({}))];
    let stage = Stage::proving(&["tool_call_update", "iteration_end"], &answers);
    let forever = FunctionTool::new("look", "Looks.", json!({}), |_: &Value| {
        Box::pin(std::future::pending()) as BoxFuture<'_, Result<String, ToolError>>
    });
    let mut running = Box::pin(stage.run_with(request(json!({})).tool(forever)));
    while stage.of_type("tool_call_update").is_empty() {
        let polled = poll_fn(|context| match running.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending => Poll::Ready(None),
        });
        assert_eq!(polled.await, None);
        tokio::task::yield_now().await;
    }
    drop(running);
    let end = stage.of_type("tool_call_update").pop().unwrap();
    assert_eq!(end["status"], "failed");
    assert_eq!(end["error_category"], "abandoned_at_loop_exit");
    let info = stage.one("iteration_end")["iteration_info"].clone();
    assert_eq!(info["skip_reason"], "cancelled");
    assert_eq!(stage.story().last().unwrap(), "@loop_exit");
    // The next loop finds a session it can work on.
    stage.run(json!({"messages": []})).await;
}
