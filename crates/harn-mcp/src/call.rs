//! A call of a tool, from its arguments to its result.
//!
//! ```text
//! arguments ─► schema ─► tools/call ─► result ─► schema ─► CallResult
//!                          ▲   ├─ a question ─► journal ─► people ─► journal ─┐
//!                          └───┼──────────────────────────────────────────────┘
//!                              └─ a task ─► journal ─► tasks/get … ─► result
//! ```

use harn_agent::tool_servers::{CallResult, ServerCall, ServerConfig, ServerError};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ServerResult};
use serde_json::{Map, Value};

use crate::failure::Failures;
use crate::handler::Handler;
use crate::link::{Link, Request};
use crate::rounds::{ROUNDS_MAX, Rounds};
use crate::{schema, tasks};

/// Calls a tool that was described as `tool`.
pub(crate) async fn call(
    link: &Link,
    config: &ServerConfig,
    handler: &Handler,
    tool: &Value,
    call: &ServerCall,
) -> Result<CallResult, ServerError> {
    if call.task_id.is_none() {
        check_arguments(tool, call)?;
    }
    let rounds = Rounds {
        handler,
        link,
        config,
        session_id: call.session_id.as_deref(),
        journal: call.journal.as_ref(),
    };
    let result = match &call.task_id {
        Some(task_id) => tasks::result(link, config, &rounds, task_id).await?,
        None => begin(link, config, &rounds, call).await?,
    };
    let failures = Failures {
        config,
        fault: &link.fault,
    };
    let result = read(result, &failures)?;
    check_result(tool, &result, &failures)?;
    Ok(result)
}

fn check_arguments(tool: &Value, call: &ServerCall) -> Result<(), ServerError> {
    let arguments = Value::Object(call.arguments.clone());
    schema::check(&tool["inputSchema"], &arguments).map_err(|problem| {
        ServerError::InvalidArguments(format!(
            "the arguments of '{}' do not fit its schema: {problem}",
            call.tool
        ))
    })
}

/// A result that promises a shape has to have it. A failure need not.
fn check_result(
    tool: &Value,
    result: &CallResult,
    failures: &Failures<'_>,
) -> Result<(), ServerError> {
    let declared = &tool["outputSchema"];
    if declared.is_null() || result.is_error {
        return Ok(());
    }
    let name = tool["name"].as_str().unwrap_or_default();
    let checked = match &result.structured {
        Some(structured) => schema::check(declared, structured),
        None => Err("there is no structured content".to_owned()),
    };
    checked.map_err(|problem| {
        failures.broken(format!(
            "gave a result of '{name}' that does not fit its schema: {problem}"
        ))
    })
}

/// Sends the call, again with answers as long as the server has questions.
async fn begin(
    link: &Link,
    config: &ServerConfig,
    rounds: &Rounds<'_>,
    call: &ServerCall,
) -> Result<Map<String, Value>, ServerError> {
    let failures = Failures {
        config,
        fault: &link.fault,
    };
    let mut params = CallToolRequestParams::new(call.tool.clone());
    params.arguments = Some(call.arguments.clone());
    for _ in 0..=ROUNDS_MAX {
        let request = CallToolRequest::new(params.clone());
        let mut request = Request::new(ClientRequest::CallToolRequest(request), &*call.tool)
            .of(rounds.session_id);
        request.traceparent.clone_from(&call.traceparent);
        match link.ask(config, request).await? {
            ServerResult::InputRequiredResult(asked) => {
                let requests = asked.input_requests.unwrap_or_default();
                let state = asked.request_state;
                params.input_responses = Some(rounds.answer(&requests, state.as_deref()).await?);
                params.request_state = state;
            }
            ServerResult::CreateTaskResult(begun) => {
                let task_id = begun.task.task_id;
                if let Some(journal) = rounds.journal {
                    journal.task_begun(&task_id).await;
                }
                return tasks::result(link, config, rounds, &task_id).await;
            }
            ServerResult::CallToolResult(result) => {
                let result = serde_json::to_value(result);
                return object(result.unwrap_or_default(), &failures);
            }
            ServerResult::CustomResult(result) => return object(result.0, &failures),
            _ => return Err(not_a_result(&failures)),
        }
    }
    Err(tasks::too_many_rounds(&failures))
}

fn object(value: Value, failures: &Failures<'_>) -> Result<Map<String, Value>, ServerError> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(not_a_result(failures)),
    }
}

fn not_a_result(failures: &Failures<'_>) -> ServerError {
    failures.broken("answered 'tools/call' with something else".to_owned())
}

fn read(
    mut result: Map<String, Value>,
    failures: &Failures<'_>,
) -> Result<CallResult, ServerError> {
    let content = match result.remove("content") {
        Some(Value::Array(content)) => content,
        None if result.contains_key("structuredContent") => Vec::new(),
        _ => return Err(not_a_result(failures)),
    };
    Ok(CallResult {
        content,
        is_error: result.get("isError") == Some(&Value::Bool(true)),
        structured: result.remove("structuredContent"),
    })
}
