//! How far an agent has come, as it tells itself.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, truthy};
use serde_json::{Map, Value, json};

use crate::builtins::Asked;
use crate::callback::BoxFuture;
use crate::plan::progress_entries;
use crate::runtime::Runtime;
use crate::tool::{Declaration, Tool, ToolCall, ToolError};

/// The tool that models report with.
const TOOL: &str = "agent_progress";

/// A report.
struct Report {
    message: Option<String>,
    entries: Vec<Value>,
    replace: bool,
    metadata: Value,
}

impl Report {
    /// # Errors
    /// It says nothing.
    fn read(report: &Value) -> Result<Self, String> {
        let text = report["message"].as_str().map(str::trim);
        let message = text.filter(|text| !text.is_empty()).map(str::to_owned);
        let entries = progress_entries(&report["entries"]);
        if message.is_none() && entries.is_empty() {
            return Err("agent_progress: message or entries is required".to_owned());
        }
        let replace = report.get("replace").filter(|replace| !replace.is_null());
        let metadata = report.get("metadata").filter(|value| value.is_object());
        Ok(Self {
            message,
            entries,
            replace: replace.is_none_or(truthy),
            metadata: metadata.cloned().unwrap_or_else(|| json!({})),
        })
    }

    fn event(&self, session_id: &str) -> AgentEvent {
        AgentEvent::ProgressReported {
            session_id: session_id.to_owned(),
            message: self.message.clone(),
            entries: Value::Array(self.entries.clone()),
            replace: self.replace,
            metadata: self.metadata.clone(),
        }
    }
}

/// `agent_progress(report)`, from inside a loop.
pub(crate) async fn answer(runtime: &Runtime, asked: &Asked) -> Option<Result<Value, Thrown>> {
    if asked.builtin != TOOL {
        return None;
    }
    let report = match Report::read(asked.argument(0)) {
        Ok(report) => report,
        Err(text) => return Some(Err(Thrown::Plain(text))),
    };
    let Some(session_id) = asked.session_id.as_deref() else {
        let text = "agent_progress: no active agent session".to_owned();
        return Some(Err(Thrown::Plain(text)));
    };
    runtime.report(session_id, &report).await;
    Some(Ok(json!({
        "message": report.message,
        "entries": report.entries,
        "replace": report.replace,
        "metadata": report.metadata,
    })))
}

impl Runtime {
    async fn report(&self, session_id: &str, report: &Report) {
        let event = report.event(session_id);
        let session = self.sessions().get_also_unnamed(session_id);
        match session {
            Some(session) => session.emit(&event),
            None => self.bus.emit(&event),
        }
        self.bus.deliver_to_subscribers(session_id).await;
    }
}

/// The tool for models, if a loop has switched it on.
///
/// # Errors
/// The option is neither a switch nor a dict.
pub(crate) fn tool(
    runtime: &Arc<Runtime>,
    options: &Map<String, Value>,
) -> Result<Option<Arc<dyn Tool>>, Thrown> {
    let config = match options.get("progress_tool") {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(None),
        Some(Value::Bool(true)) => &Map::new(),
        Some(Value::Object(config)) => config,
        Some(_) => {
            let text = "agent_loop: progress_tool must be true, false, a dict, or nil";
            return Err(Thrown::Plain(text.to_owned()));
        }
    };
    let is_off = config
        .get("enabled")
        .is_some_and(|enabled| !truthy(enabled));
    let description = config.get("description").map(display);
    let tool = || {
        Arc::new(ProgressTool {
            runtime: Arc::downgrade(runtime),
            declaration: declaration(description),
        }) as Arc<dyn Tool>
    };
    Ok((!is_off).then(tool))
}

/// Tells people how far the model has come.
struct ProgressTool {
    runtime: Weak<Runtime>,
    declaration: Declaration,
}

fn declaration(description: Option<String>) -> Declaration {
    let usual = "Tells the user how far you have come: a short message, a list of tasks with \
                 their status, or both.";
    Declaration {
        name: TOOL.to_owned(),
        description: description.unwrap_or_else(|| usual.to_owned()),
        parameters: json!({
            "message": {
                "type": "string",
                "description": "What you are doing now.",
                "required": false,
            },
            "entries": {
                "type": "array",
                "description": "The tasks, each with `content`, `status` (pending, in_progress \
                                or completed) and, if it matters, `priority`.",
                "items": {"type": "object"},
                "required": false,
            },
            "replace": {
                "type": "boolean",
                "description": "Whether the list replaces the one shown before.",
                "required": false,
            },
        }),
        annotations: serde_json::from_value(json!({"kind": "think"})).ok(),
    }
}

impl Tool for ProgressTool {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn takes_declared_only(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let report = Report::read(call.arguments).map_err(ToolError::Failed)?;
            if let Some(runtime) = self.runtime.upgrade() {
                runtime.report(call.session_id, &report).await;
            }
            Ok("Progress reported.".to_owned())
        })
    }
}
