//! Who runs a call.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use harn_events::ToolCallErrorCategory;
use harn_llm::Category;
use harn_llm::sorted_json_pretty;
use serde_json::{Value, json};

use super::super::turn::Call;
use super::super::{Run, archive};
use super::gates::Started;
use super::middleware::{Audit, call_through};
use crate::calls_in_flight::CallCancelled;
use crate::host::HostError;
use crate::own_tools;
use crate::policy::denied_result;
use crate::registry::Backend;
use crate::runtime::Runtime;
use crate::shown::Shown;
use crate::tool::{ToolCall, ToolError};
use crate::tool_servers::calling;

/// What came of a call.
pub(super) struct Executed {
    pub(super) text: String,
    /// Why it failed, for its last event; `None` if the text decides.
    pub(super) failure: Option<(String, ToolCallErrorCategory)>,
    pub(super) is_rejected: bool,
    pub(super) took_ms: i64,
    /// What the function around the call has noted.
    pub(super) audit: Audit,
    /// What the call shows to people besides.
    pub(super) shown: Vec<Shown>,
}

/// The largest pause between two tries is the first one doubled this often.
const DOUBLINGS_MAX: u32 = 5;

impl Run<'_> {
    /// Who runs a tool.
    pub(super) fn backend_of(&self, name: &str) -> Backend {
        let is_known = self.tools.get(name).is_some();
        match self.tool(name) {
            Some(entry) => entry.backend.clone(),
            // What is out of view is nobody's, not even the host's.
            None if is_known || !self.is_in_view(name, None) => Backend::unavailable(name),
            None if own_tools::is_own_tool(name) || name == archive::NAME => Backend::Own,
            None if self.runtime.lending_host().is_some() => Backend::Host,
            None => Backend::unavailable(name),
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
                Ok(executed) => Executed {
                    shown: in_flight.shown(),
                    ..executed
                },
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
        let (made, audit) = execute_once(run, started).await;
        let error = match made {
            Ok(text) => return Executed::said(text).noted(audit),
            Err(error) => error,
        };
        let (category, message) = match error {
            ToolError::Failed(text) => {
                return Executed::said(format!("Error: {text}")).noted(audit);
            }
            ToolError::Rejected(reason) => {
                return Executed::rejected(&started.call.name, reason).noted(audit);
            }
            ToolError::Backend { category, message } => (category, message),
        };
        if u64::from(attempt) >= run.options.tool_retries {
            return Executed::unreachable(category, message).noted(audit);
        }
        attempt += 1;
        let doublings = attempt.min(DOUBLINGS_MAX);
        let pause_ms = run.options.tool_backoff_ms.saturating_mul(1 << doublings);
        run.runtime.sleep(Duration::from_millis(pause_ms)).await;
    }
}

async fn execute_once(run: &Run<'_>, started: &Started) -> (Result<String, ToolError>, Audit) {
    let call = &started.call;
    if matches!(started.backend, Backend::Own) && call.name == archive::NAME {
        return (Ok(archive::read(run, &call.arguments)), Audit::default());
    }
    if let Some(caller) = &run.controls.tool_caller {
        return call_through(run, caller, started).await;
    }
    let made = run_backend(run.runtime, run.session.id(), &started.backend, call).await;
    (made, Audit::default())
}

/// Lets whoever runs a tool make the call.
pub(super) async fn run_backend(
    runtime: &Arc<Runtime>,
    session_id: &str,
    backend: &Backend,
    call: &Call,
) -> Result<String, ToolError> {
    let asked = ToolCall {
        id: &call.id,
        session_id,
        name: &call.name,
        arguments: &call.arguments,
    };
    let showing = runtime.calls_in_flight.showing(session_id, &call.id);
    let not_here = |reason: String| {
        Err(ToolError::Rejected(format!(
            "{reason} Do not retry this tool."
        )))
    };
    match backend {
        Backend::Provider => not_here(format!(
            "tool '{}' is declared executor: \"provider_native\" — the runtime does not dispatch \
             these locally; the provider must have already executed the call",
            call.name
        )),
        Backend::Host => match runtime.lending_host() {
            Some(_) => ask_host(runtime, asked).await,
            None => not_here(format!(
                "tool '{}' is declared executor: \"host_bridge\" but no host bridge is connected \
                 to this environment",
                call.name
            )),
        },
        Backend::Mcp {
            server,
            tool,
            handler,
        } => match (handler, runtime.lending_host()) {
            _ if let Some(found) = runtime.server_for(server, session_id).await => match found {
                Ok(found) => {
                    let tool = tool.as_deref().unwrap_or(&call.name);
                    if !runtime.approved_tools.is_unchanged(&*found, tool).await {
                        return Err(ToolError::Rejected(format!(
                            "tool '{}' has changed since it was approved",
                            call.name
                        )));
                    }
                    let whose = calling::Whose {
                        call: asked,
                        model_id: &call.model_id,
                    };
                    calling::call(runtime, &found, tool, whose, &showing).await
                }
                Err(error) => Err(ToolError::Backend {
                    category: error.category(),
                    message: error.to_string(),
                }),
            },
            (Some(handler), _) => {
                contained(async { handler.call_showing(asked, &showing).await }).await
            }
            (None, Some(_)) => ask_host(runtime, asked).await,
            (None, None) => not_here(format!(
                "tool '{}' (mcp_server: \"{server}\") cannot be dispatched: no direct MCP client, \
                 bridge, or Harn handler",
                call.name
            )),
        },
        Backend::Own => Ok(own(runtime, &call.name, &call.arguments)),
        Backend::Here(tool) => contained(async { tool.call_showing(asked, &showing).await }).await,
        Backend::Nobody(reason) => not_here(reason.clone()),
    }
}

fn own(runtime: &Runtime, name: &str, arguments: &Value) -> String {
    if let Err(reason) = own_tools::allowed(name, arguments, runtime) {
        return format!("Error: {reason}");
    }
    let answer = own_tools::answer(name, arguments, &runtime.folder);
    answer.unwrap_or_else(|| format!("Error: nobody knows the tool '{name}'"))
}

async fn ask_host(runtime: &Runtime, call: ToolCall<'_>) -> Result<String, ToolError> {
    let Some(bridge) = runtime.lending_host() else {
        return Err(ToolError::Rejected(
            "no host bridge is connected".to_owned(),
        ));
    };
    let parameters = json!({
        "name": call.name,
        "args": [call.arguments],
        "sessionId": call.session_id,
    });
    match bridge.request("builtin_call", parameters).await {
        Ok(Value::String(text)) => Ok(text),
        Ok(Value::Null) => Ok("(no output)".to_owned()),
        Ok(value) => Ok(sorted_json_pretty(&value)),
        Err(error) => Err(of_host(&error)),
    }
}

/// What a call comes to that the host did not make.
fn of_host(error: &HostError) -> ToolError {
    let category = match error {
        HostError::Refused(reason) => return ToolError::Rejected(reason.clone()),
        HostError::TimedOut(_) => Category::Timeout,
        HostError::Lacking(_) | HostError::Failed { .. } => Category::Generic,
    };
    ToolError::Backend {
        category,
        message: error.to_string(),
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
    fn noted(self, audit: Audit) -> Self {
        Self { audit, ..self }
    }

    fn said(text: String) -> Self {
        Self {
            text,
            failure: None,
            is_rejected: false,
            took_ms: 0,
            audit: Audit::default(),
            shown: Vec::new(),
        }
    }

    fn rejected(tool: &str, reason: String) -> Self {
        Self {
            text: denied_result(tool, &reason),
            failure: Some((reason, ToolCallErrorCategory::PermissionDenied)),
            is_rejected: true,
            took_ms: 0,
            audit: Audit::default(),
            shown: Vec::new(),
        }
    }

    fn cancelled(cancelled: CallCancelled) -> Self {
        let message = cancelled.to_string();
        Self {
            text: format!("Error: {message}"),
            failure: Some((message, ToolCallErrorCategory::Cancelled)),
            is_rejected: false,
            took_ms: 0,
            audit: Audit::default(),
            shown: Vec::new(),
        }
    }

    fn unreachable(category: Category, message: String) -> Self {
        let text = format!("Error: {message}");
        Self {
            failure: Some((message, of_category(category))),
            text,
            is_rejected: false,
            took_ms: 0,
            audit: Audit::default(),
            shown: Vec::new(),
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
        Category::McpServerError => ToolCallErrorCategory::McpServerError,
        Category::Cancelled => ToolCallErrorCategory::Cancelled,
        Category::ToolRejected => ToolCallErrorCategory::PermissionDenied,
        _ => ToolCallErrorCategory::HostBridgeError,
    }
}
