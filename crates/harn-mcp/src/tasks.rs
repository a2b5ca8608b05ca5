//! Calls that a server goes on with by itself: tasks, which are asked about now and then.

use std::time::Duration;

use harn_agent::tool_servers::{ServerConfig, ServerError};
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, GetTaskParams, GetTaskRequest,
    InputRequests, InputResponses, ServerResult, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::failure::Failures;
use crate::link::{Link, Request};
use crate::rounds::{ROUNDS_MAX, Rounds};

/// How long we wait between two looks if the server does not say.
const POLL_MS: u64 = 1_000;

/// Between two looks we wait at least and at most that long, whatever the server says.
const POLL_MS_RANGE: (u64, u64) = (10, 60_000);

/// What a task says when it is asked about.
enum News {
    /// It is over.
    Done(Map<String, Value>),
    /// It wants to know something first.
    Asks(InputRequests),
}

/// Waits for a task and gives the result of the call that it is. If this is dropped, the task
/// is cancelled.
pub(crate) async fn result(
    link: &Link,
    config: &ServerConfig,
    rounds: &Rounds<'_>,
    task_id: &str,
) -> Result<Map<String, Value>, ServerError> {
    let mut cancelling = Cancelling {
        link,
        task_id: Some(task_id),
    };
    let waited = wait(link, config, rounds, task_id).await;
    // One that takes too long goes on until it hears that nobody waits any more.
    if !matches!(waited, Err(ServerError::TimedOut { .. })) {
        cancelling.task_id = None;
    }
    waited
}

async fn wait(
    link: &Link,
    config: &ServerConfig,
    rounds: &Rounds<'_>,
    task_id: &str,
) -> Result<Map<String, Value>, ServerError> {
    let failures = Failures {
        config,
        fault: &link.fault,
    };
    let mut left = Duration::from_millis(config.limits.total_ms);
    let mut given = None;
    for asked in 0.. {
        let begin = Instant::now();
        let hearing = news(link, config, rounds, task_id, given.take());
        let heard = tokio::time::timeout(left, hearing).await;
        let heard = heard.map_err(|_| failures.timed_out("tasks/get", config.limits.total_ms))?;
        // The time that people take is not the server's.
        left = left.saturating_sub(begin.elapsed());
        match heard? {
            News::Done(result) => return Ok(result),
            News::Asks(_) if asked == ROUNDS_MAX => break,
            News::Asks(requests) => given = Some(rounds.answer(&requests, None).await?),
        }
    }
    Err(too_many_rounds(&failures))
}

/// Tells a task what it wanted to know, and asks about it until there is something to tell.
async fn news(
    link: &Link,
    config: &ServerConfig,
    rounds: &Rounds<'_>,
    task_id: &str,
    given: Option<InputResponses>,
) -> Result<News, ServerError> {
    let failures = Failures {
        config,
        fault: &link.fault,
    };
    if let Some(responses) = given {
        let request = UpdateTaskRequest::new(UpdateTaskParams::new(task_id, responses));
        let request = ClientRequest::UpdateTaskRequest(request);
        link.ask(config, Request::new(request, "tasks/update"))
            .await?;
    }
    loop {
        let request = GetTaskRequest::new(GetTaskParams::new(task_id));
        let request = Request::new(ClientRequest::GetTaskRequest(request), "tasks/get");
        let answer = link.ask(config, request.of(rounds.session_id)).await?;
        let ServerResult::GetTaskResult(state) = answer else {
            return Err(failures.broken("answered 'tasks/get' with something else".to_owned()));
        };
        match state.task.payload {
            TaskPayload::Completed { result } => return Ok(News::Done(result)),
            TaskPayload::Failed { error } => return Err(refused(&error)),
            TaskPayload::Cancelled => {
                return Err(failures.broken(format!("cancelled the task '{task_id}'")));
            }
            TaskPayload::InputRequired { input_requests } => {
                return Ok(News::Asks(input_requests));
            }
            _ => {
                let pause = state.task.task.poll_interval_ms.unwrap_or(POLL_MS);
                let pause = pause.clamp(POLL_MS_RANGE.0, POLL_MS_RANGE.1);
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }
    }
}

/// A server that asks and asks.
pub(crate) fn too_many_rounds(failures: &Failures<'_>) -> ServerError {
    failures.broken(format!(
        "asked more than {ROUNDS_MAX} times before it answered"
    ))
}

fn refused(error: &Map<String, Value>) -> ServerError {
    let message = error.get("message").and_then(Value::as_str);
    ServerError::Refused {
        code: error.get("code").and_then(Value::as_i64).unwrap_or(-32603),
        message: message.unwrap_or("the task failed").to_owned(),
        data: error.get("data").cloned(),
    }
}

/// Cancels a task that nobody waits for any more.
struct Cancelling<'a> {
    link: &'a Link,
    task_id: Option<&'a str>,
}

impl Drop for Cancelling<'_> {
    fn drop(&mut self) {
        if let Some(task_id) = self.task_id {
            let request = CancelTaskRequest::new(CancelTaskParams::new(task_id));
            self.link
                .send_later(ClientRequest::CancelTaskRequest(request));
        }
    }
}
