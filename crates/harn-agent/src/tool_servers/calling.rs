//! Calls of a server's tools on behalf of a session.

use std::sync::Arc;

use harn_llm::sorted_json_pretty;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{CallJournal, CallResult, ServerCall, ServerError, ToolServer};
use crate::callback::BoxFuture;
use crate::runtime::Runtime;
use crate::session::Session;
use crate::shown::{Showing, Shown};
use crate::tool::{ToolCall, ToolError};

/// Where a session keeps what its calls to servers depend on, by the ids that models gave them.
const CALLS: &str = "tool_server_calls";

/// How large a block may be to be shown: journals keep what is shown for ever.
const BLOCK_BYTES_MAX: usize = 1024 * 1024;

/// A call, and how the conversation knows it.
pub(crate) struct Whose<'a> {
    pub(crate) call: ToolCall<'a>,
    /// The id that the model gave it.
    pub(crate) model_id: &'a str,
}

/// Calls a tool and gives what the model reads.
pub(crate) async fn call(
    runtime: &Arc<Runtime>,
    server: &Arc<dyn ToolServer>,
    tool: &str,
    whose: Whose<'_>,
    showing: &Showing,
) -> Result<String, ToolError> {
    let asked = whose.call;
    let arguments = asked.arguments.as_object().cloned().unwrap_or_default();
    let session = runtime.sessions().get_also_unnamed(asked.session_id);
    let mut call = server_call(tool, arguments, asked.session_id, asked.id);
    let journal = session.map(|session| Journal {
        session,
        call_id: whose.model_id.to_owned(),
        begun: json!({"server": server.name(), "tool": tool, "rounds": []}),
    });
    let journal = journal.map(Arc::new);
    call.journal = journal.clone().map(|journal| journal as _);
    let result = server.call(call).await;
    if let Some(journal) = journal {
        journal.forget();
    }
    let result = result.map_err(failed)?;
    show(&result, showing);
    shown(result)
}

/// People see what a text cannot say, as it came.
fn show(result: &CallResult, showing: &Showing) {
    if result.content.iter().all(|block| block["type"] == "text") {
        return;
    }
    for block in &result.content {
        if block.to_string().len() <= BLOCK_BYTES_MAX {
            let block = block.clone();
            showing.show(Shown::Block { block });
        }
    }
}

/// Waits for the task that an interrupted call of an earlier process has begun, and gives what
/// the model reads; `None` if the call was none.
pub(crate) async fn resumed(
    runtime: &Arc<Runtime>,
    session: &Arc<Session>,
    call_id: &str,
) -> Option<String> {
    let kept = session.kept(CALLS)?;
    let begun = &kept[call_id];
    let (server, tool) = (begun["server"].as_str()?, begun["tool"].as_str()?);
    let task_id = begun["task_id"].as_str()?;
    let made = match runtime.server_for(server, session.id()).await? {
        Ok(server) => {
            let mut call = server_call(tool, Map::new(), session.id(), call_id);
            call.task_id = Some(task_id.to_owned());
            server.call(call).await.map_err(failed).and_then(shown)
        }
        Err(error) => Err(failed(error)),
    };
    forget(session, call_id);
    Some(made.unwrap_or_else(|error| format!("Error: {error}")))
}

fn server_call(
    tool: &str,
    arguments: Map<String, Value>,
    session_id: &str,
    call_id: &str,
) -> ServerCall {
    let mut call = ServerCall::new(tool, arguments);
    call.session_id = Some(session_id.to_owned());
    call.traceparent = Some(traceparent(session_id, call_id));
    call
}

/// The trace of a session and the span of a call in it. A run that is repeated has the same.
pub(crate) fn traceparent(session_id: &str, call_id: &str) -> String {
    let hex = |text: &str, bytes: usize| {
        let digest = Sha256::digest(text.as_bytes());
        let digits = digest[..bytes].iter().map(|byte| format!("{byte:02x}"));
        digits.collect::<String>()
    };
    let span = hex(&format!("{session_id}/{call_id}"), 8);
    format!("00-{}-{span}-01", hex(session_id, 16))
}

fn failed(error: ServerError) -> ToolError {
    match error {
        ServerError::Forbidden(reason) => ToolError::Rejected(reason),
        error => ToolError::Backend {
            category: error.category(),
            message: error.to_string(),
        },
    }
}

/// What the model reads of a result: data before content, and content as it is. One text is
/// that text; of a failure all texts are read.
fn shown(result: CallResult) -> Result<String, ToolError> {
    let is_text = |block: &Value| block["type"] == "text" && block["text"].is_string();
    let text = match (&result.structured, &*result.content) {
        (Some(structured), _) if !result.is_error => sorted_json_pretty(structured),
        (_, []) => "(no output)".to_owned(),
        (_, [block]) if is_text(block) => result.text(),
        (_, content) if result.is_error && content.iter().all(is_text) => result.text(),
        (_, content) => sorted_json_pretty(&json!(content)),
    };
    match result.is_error {
        true => Err(ToolError::Failed(text)),
        false => Ok(text),
    }
}

/// Writes into the journal of a session what a call of it depends on.
struct Journal {
    session: Arc<Session>,
    call_id: String,
    /// What is kept when there is something to keep.
    begun: Value,
}

impl Journal {
    fn change(&self, change: impl FnOnce(&mut Value)) -> BoxFuture<'_, ()> {
        let mut calls = self.session.kept(CALLS).unwrap_or_else(|| json!({}));
        let entry = &mut calls[&self.call_id];
        if entry.is_null() {
            *entry = self.begun.clone();
        }
        change(entry);
        self.session.keep(CALLS, calls);
        Box::pin(self.session.barrier())
    }

    fn add_round(&self, round: Value) -> BoxFuture<'_, ()> {
        self.change(|entry| {
            if let Some(rounds) = entry["rounds"].as_array_mut() {
                rounds.push(round);
            }
        })
    }

    /// The call is over and has its place among the results.
    fn forget(&self) {
        forget(&self.session, &self.call_id);
    }
}

fn forget(session: &Session, call_id: &str) {
    let Some(Value::Object(mut calls)) = session.kept(CALLS) else {
        return;
    };
    if calls.remove(call_id).is_some() {
        let left = match calls.is_empty() {
            true => Value::Null,
            false => Value::Object(calls),
        };
        session.keep(CALLS, left);
    }
}

impl CallJournal for Journal {
    fn input_required(&self, round: Value) -> BoxFuture<'_, ()> {
        self.add_round(round)
    }

    fn input_given(&self, round: Value) -> BoxFuture<'_, ()> {
        self.add_round(round)
    }

    fn task_begun<'a>(&'a self, task_id: &'a str) -> BoxFuture<'a, ()> {
        self.change(|entry| entry["task_id"] = json!(task_id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_the_form_that_others_understand() {
        let one = traceparent("s", "c1");
        assert_eq!(one.len(), 55);
        assert_eq!(one, traceparent("s", "c1"));
        let other = traceparent("s", "c2");
        assert_eq!(one[..36], other[..36]);
        assert_ne!(one, other);
    }

    #[test]
    fn the_model_reads_data_before_content_and_failures_as_text() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let result = |content: Vec<Value>, structured: Option<Value>, is_error: bool| {
            shown(CallResult {
                content,
                structured,
                is_error,
            })
        };
        assert_eq!(result(vec![], None, false).unwrap(), "(no output)");
        assert_eq!(result(vec![text("a")], None, false).unwrap(), "a");
        // What is no single text is read as it is.
        let two = result(vec![text("a"), text("b")], None, false).unwrap();
        let blocks: Value = serde_json::from_str(&two).unwrap();
        assert_eq!(blocks, json!([text("a"), text("b")]));
        let data = Some(json!({"n": 1}));
        assert_eq!(
            result(vec![text("a")], data, false).unwrap(),
            "{\n  \"n\": 1\n}"
        );
        let failure = result(vec![text("no"), text("way")], None, true).unwrap_err();
        assert_eq!(failure, ToolError::Failed("no\nway".to_owned()));
        let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        let shown = result(vec![image], None, false).unwrap();
        assert!(shown.contains("\"mimeType\": \"image/png\""), "{shown}");
    }
}
