//! Functions that a program puts around the tool calls of a loop.
//!
//! ```text
//! loop ─► tool_caller(call, next) ─► next(call) ─► whoever runs the tool
//!   ◄──────── result, audit ◄────────────┘
//! ```
//!
//! The function is given `next` by the program's side of the runtime, which knows a call that
//! waits here by a number. Whatever runs the tool is found there, so the function can change the
//! call, make it twice, or not at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use crate::builtins::Asked;
use crate::callback::BoxFuture;
use crate::runtime::Runtime;
use crate::tool::ToolError;

/// The status of a call that may not be made, in what `next` gives and a function gives back: one
/// that only hands it on does not make a failure of it, which the model may try again.
pub(crate) const REJECTED: &str = "consent_denied";

/// Makes a call with these arguments.
pub(crate) type Next =
    Arc<dyn Fn(Value) -> BoxFuture<'static, Result<String, ToolError>> + Send + Sync>;

/// The calls that functions of programs are busy with.
#[derive(Default)]
pub(crate) struct ToolCallers {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    calls: BTreeMap<u64, Next>,
}

/// A call that can be made until this is dropped.
pub(crate) struct Offer<'a> {
    callers: &'a ToolCallers,
    pub(crate) number: u64,
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        self.callers.waiting().calls.remove(&self.number);
    }
}

impl ToolCallers {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call be made by its number.
    pub(crate) fn offer(&self, next: Next) -> Offer<'_> {
        let mut waiting = self.waiting();
        waiting.last += 1;
        let number = waiting.last;
        waiting.calls.insert(number, next);
        Offer {
            callers: self,
            number,
        }
    }
}

/// `__tool_next(number, call)`: makes the call, as it is now.
pub(crate) async fn answer(runtime: &Runtime, asked: &Asked) -> Option<Result<Value, Thrown>> {
    if asked.builtin != "__tool_next" {
        return None;
    }
    let number = asked.argument(0).as_u64().unwrap_or_default();
    let next = runtime.tool_callers.waiting().calls.get(&number).cloned();
    let Some(next) = next else {
        let text = "tool_caller: the call is over, so `next` cannot make it any more".to_owned();
        return Some(Err(Thrown::Plain(text)));
    };
    let call = asked.argument(1);
    let arguments = call.get("tool_args").cloned().unwrap_or_else(|| json!({}));
    let began = runtime.now_ms();
    let made = next(arguments).await;
    let mut result = match made {
        Ok(text) if is_error(&text) => {
            json!({"ok": false, "status": "error", "result": text, "error": text})
        }
        Ok(text) => json!({"ok": true, "status": "ok", "result": text, "error": null}),
        Err(error) => {
            let status = match error {
                ToolError::Rejected(_) => REJECTED,
                ToolError::Failed(_) | ToolError::Backend { .. } => "error",
            };
            let error = error.to_string();
            json!({"ok": false, "status": status, "result": null, "error": error})
        }
    };
    for key in ["tool_name", "call_id"] {
        result[key] = call[key].clone();
    }
    result["duration_ms"] = json!(runtime.now_ms() - began);
    Some(Ok(result))
}

/// Tools say so in their answers.
fn is_error(text: &str) -> bool {
    text.starts_with("Error:") || text.starts_with("ERROR:")
}
