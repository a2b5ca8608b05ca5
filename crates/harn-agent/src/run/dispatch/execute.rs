//! Who runs a call.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use harn_events::ToolCallErrorCategory;
use harn_llm::Category;
use serde_json::{Value, json};

use super::super::{Run, archive};
use super::gates::Started;
use crate::calls_in_flight::CallCancelled;
use crate::own_tools;
use crate::policy::denied_result;
use crate::registry::Backend;
use crate::tool::{ToolCall, ToolError};

/// What came of a call.
pub(super) struct Executed {
    pub(super) text: String,
    /// Why it failed, for its last event; `None` if the text decides.
    pub(super) failure: Option<(String, ToolCallErrorCategory)>,
    pub(super) is_rejected: bool,
    pub(super) took_ms: i64,
}

/// The largest pause between two tries is the first one doubled this often.
const DOUBLINGS_MAX: u32 = 5;

impl Run<'_> {
    /// Who runs a tool.
    pub(super) fn backend_of(&self, name: &str) -> Backend {
        match self.tools.get(name) {
            Some(entry) => entry.backend.clone(),
            None if own_tools::is_own_tool(name) || name == archive::NAME => Backend::Own,
            None if self.runtime.bridge.is_some() => Backend::Host,
            None => Backend::Nobody(format!(
                "Tool '{name}' is not available in the current environment. Use only the tools \
                 listed in the tool-calling contract."
            )),
        }
    }
}

/// Runs a call, again if what runs it cannot be reached.
pub(super) async fn execute(run: &Run<'_>, started: &Started) -> Executed {
    let began = run.runtime.now_ms();
    let mut executed = match started.skip {
        Some(_) => Executed::said(String::new()),
        None => {
            let calls = &run.runtime.calls_in_flight;
            let in_flight = calls.begin(run.session.id(), &started.call.id);
            let executing = in_flight.unless_cancelled(execute_retrying(run, started));
            match executing.await {
                Ok(executed) => executed,
                Err(cancelled) => {
                    after_others().await;
                    Executed::cancelled(cancelled)
                }
            }
        }
    };
    executed.took_ms = run.runtime.now_ms() - began;
    executed
}

/// Lets what was stopped end before the loop goes on: a tool that waits for a person takes its
/// request back, and says so before the call is said to be over.
async fn after_others() {
    let mut is_first = true;
    poll_fn(|context| match std::mem::take(&mut is_first) {
        true => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
        false => Poll::Ready(()),
    })
    .await;
}

async fn execute_retrying(run: &Run<'_>, started: &Started) -> Executed {
    let mut attempt = 0;
    loop {
        let error = match execute_once(run, started).await {
            Ok(text) => return Executed::said(text),
            Err(error) => error,
        };
        let (category, message) = match error {
            ToolError::Failed(text) => return Executed::said(format!("Error: {text}")),
            ToolError::Rejected(reason) => {
                return Executed::rejected(&started.call.name, reason);
            }
            ToolError::Backend { category, message } => (category, message),
        };
        if u64::from(attempt) >= run.options.tool_retries {
            return Executed::unreachable(category, message);
        }
        attempt += 1;
        let doublings = attempt.min(DOUBLINGS_MAX);
        let pause_ms = run.options.tool_backoff_ms.saturating_mul(1 << doublings);
        run.runtime.sleep(Duration::from_millis(pause_ms)).await;
    }
}

async fn execute_once(run: &Run<'_>, started: &Started) -> Result<String, ToolError> {
    let call = &started.call;
    let asked = ToolCall {
        id: &call.id,
        session_id: run.session.id(),
        name: &call.name,
        arguments: &call.arguments,
    };
    let not_here = |reason: String| {
        Err(ToolError::Rejected(format!(
            "{reason} Do not retry this tool."
        )))
    };
    match &started.backend {
        Backend::Provider => not_here(format!(
            "tool '{}' is declared executor: \"provider_native\" — the runtime does not dispatch \
             these locally; the provider must have already executed the call",
            call.name
        )),
        Backend::Host => match &run.runtime.bridge {
            Some(_) => ask_host(run, &call.name, &call.arguments).await,
            None => not_here(format!(
                "tool '{}' is declared executor: \"host_bridge\" but no host bridge is connected \
                 to this environment",
                call.name
            )),
        },
        Backend::Mcp { server, handler } => match (handler, &run.runtime.bridge) {
            (Some(handler), _) => contained(async { handler.call(asked).await }).await,
            (None, Some(_)) => ask_host(run, &call.name, &call.arguments).await,
            (None, None) => not_here(format!(
                "tool '{}' (mcp_server: \"{server}\") cannot be dispatched: no direct MCP client, \
                 bridge, or Harn handler",
                call.name
            )),
        },
        Backend::Own => Ok(own(run, &call.name, &call.arguments)),
        Backend::Here(tool) => contained(async { tool.call(asked).await }).await,
        Backend::Nobody(reason) => not_here(reason.clone()),
    }
}

fn own(run: &Run<'_>, name: &str, arguments: &Value) -> String {
    if name == archive::NAME {
        return archive::read(run, arguments);
    }
    if let Err(reason) = own_tools::allowed(name, arguments, run.runtime) {
        return format!("Error: {reason}");
    }
    let answer = own_tools::answer(name, arguments, &run.runtime.folder);
    answer.unwrap_or_else(|| format!("Error: nobody knows the tool '{name}'"))
}

async fn ask_host(run: &Run<'_>, name: &str, arguments: &Value) -> Result<String, ToolError> {
    let Some(bridge) = &run.runtime.bridge else {
        return Err(ToolError::Rejected(
            "no host bridge is connected".to_owned(),
        ));
    };
    let parameters = json!({"name": name, "args": arguments, "sessionId": run.session.id()});
    match bridge.request("builtin_call", parameters).await {
        Ok(Value::String(text)) => Ok(text),
        Ok(Value::Null) => Ok("(no output)".to_owned()),
        Ok(value) => Ok(format!("{value:#}")),
        Err(message) => Err(ToolError::Backend {
            category: Category::Generic,
            message,
        }),
    }
}

/// A tool that panics has failed, also one that panics before it gives its future; the loop
/// goes on.
async fn contained(
    call: impl Future<Output = Result<String, ToolError>>,
) -> Result<String, ToolError> {
    let mut call = pin!(call);
    let polled =
        poll_fn(
            |context| match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))) {
                Ok(poll) => poll.map(Ok),
                Err(panic) => std::task::Poll::Ready(Err(panic)),
            },
        );
    match polled.await {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "it panicked".to_owned());
            Err(ToolError::Failed(format!("the tool panicked: {text}")))
        }
    }
}

impl Executed {
    fn said(text: String) -> Self {
        Self {
            text,
            failure: None,
            is_rejected: false,
            took_ms: 0,
        }
    }

    fn rejected(tool: &str, reason: String) -> Self {
        Self {
            text: denied_result(tool, &reason),
            failure: Some((reason, ToolCallErrorCategory::PermissionDenied)),
            is_rejected: true,
            took_ms: 0,
        }
    }

    fn cancelled(cancelled: CallCancelled) -> Self {
        let message = cancelled.to_string();
        Self {
            text: format!("Error: {message}"),
            failure: Some((message, ToolCallErrorCategory::Cancelled)),
            is_rejected: false,
            took_ms: 0,
        }
    }

    fn unreachable(category: Category, message: String) -> Self {
        let text = format!("Error: {message}");
        Self {
            failure: Some((message, of_category(category))),
            text,
            is_rejected: false,
            took_ms: 0,
        }
    }
}

/// The class of a failure, by the category of the error.
fn of_category(category: Category) -> ToolCallErrorCategory {
    match category {
        Category::Timeout => ToolCallErrorCategory::Timeout,
        Category::RateLimit
        | Category::Overloaded
        | Category::ServerError
        | Category::TransientNetwork => ToolCallErrorCategory::Network,
        Category::SchemaValidation => ToolCallErrorCategory::SchemaValidation,
        Category::ToolError => ToolCallErrorCategory::ToolError,
        Category::Cancelled => ToolCallErrorCategory::Cancelled,
        Category::ToolRejected => ToolCallErrorCategory::PermissionDenied,
        _ => ToolCallErrorCategory::HostBridgeError,
    }
}
