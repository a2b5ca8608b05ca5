//! The function that a program puts around its tool calls.

use std::sync::Arc;

use harn_events::{AgentEvent, ToolCallReceipt};
use harn_llm::options::value::display;
use harn_llm::sorted_json;
use serde_json::{Value, json};

use super::super::Run;
use super::super::turn::Call;
use super::execute::run_backend;
use super::gates::Started;
use crate::callback::Callback;
use crate::registry::told;
use crate::tool::ToolError;
use crate::tool_callers::{Next, REJECTED};

/// What the function notes about a call.
#[derive(Default)]
pub(super) struct Audit {
    audit: Value,
    receipt: Option<ToolCallReceipt>,
}

/// Lets the function make the call.
pub(super) async fn call_through(
    run: &Run<'_>,
    caller: &Arc<dyn Callback>,
    started: &Started,
) -> (Result<String, ToolError>, Audit) {
    let runtime = Arc::clone(run.runtime);
    let (backend, call) = (started.backend.clone(), started.call.clone());
    let session_id = run.id();
    let next: Next = Arc::new(move |arguments| {
        let runtime = Arc::clone(&runtime);
        let (backend, session_id) = (backend.clone(), session_id.clone());
        let call = Call {
            arguments,
            ..call.clone()
        };
        Box::pin(async move { run_backend(&runtime, &session_id, &backend, &call).await })
    });
    let offer = run.runtime.tool_callers.offer(next);
    let asked = vec![described(run, &started.call), json!(offer.number)];
    match caller.call(asked).await {
        Ok(answer) => read(answer),
        Err(thrown) => (Err(ToolError::Failed(told(&thrown))), Audit::default()),
    }
}

/// What the function is told about a call.
fn described(run: &Run<'_>, call: &Call) -> Value {
    let declared = run.tools.get(&call.name).map(|entry| &entry.declared);
    let of = |key: &str| declared.map_or(Value::Null, |declared| declared[key].clone());
    json!({
        "tool_name": call.name,
        "tool_args": call.arguments,
        "call_id": call.id,
        "declared_executor": of("executor"),
        "schema": of("parameters"),
        "description": of("description"),
        "turn": run.session.read(|state| state.run.iteration),
    })
}

/// What the function gave: a dict says whether it went well; anything else is the result.
fn read(answer: Value) -> (Result<String, ToolError>, Audit) {
    let Value::Object(mut answer) = answer else {
        return (Ok(shown(&answer)), Audit::default());
    };
    let audit = Audit {
        audit: answer.remove("audit").unwrap_or_default(),
        receipt: answer
            .remove("receipt")
            .and_then(|receipt| serde_json::from_value(receipt).ok()),
    };
    let text = |key: &str| answer.get(key).filter(|value| !value.is_null()).map(shown);
    let is_ok = match answer.get("ok") {
        Some(Value::Bool(is_ok)) => *is_ok,
        _ => text("error").is_none(),
    };
    let result = text("result")
        .or_else(|| text("output"))
        .or_else(|| text("text"));
    if is_ok {
        return (Ok(result.unwrap_or_default()), audit);
    }
    let reason = text("error")
        .or(result)
        .unwrap_or_else(|| "the call failed".to_owned());
    let reason = match reason.strip_prefix("Error:") {
        Some(rest) => rest.trim_start().to_owned(),
        None => reason,
    };
    let error = match answer.get("status").and_then(Value::as_str) {
        Some(REJECTED) => ToolError::Rejected(reason),
        _ => ToolError::Failed(reason),
    };
    (Err(error), audit)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(_) | Value::Object(_) => sorted_json(value),
        plain => display(plain),
    }
}

impl Run<'_> {
    /// Tells what was noted about a call, if something was.
    pub(super) async fn tell_audit(&self, call: &Call, audit: Audit) {
        if audit.audit.is_null() && audit.receipt.is_none() {
            return;
        }
        self.emit(AgentEvent::ToolCallAudit {
            session_id: self.id(),
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            audit: audit.audit,
            receipt: audit.receipt,
        })
        .await;
    }
}
