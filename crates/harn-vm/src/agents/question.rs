//! Questions to the runtime of agents that are answered at once.

use harn_machine::{Answer, Context, Failure, Fault, Request, Value};
use serde_json::json;

use super::KIND;
use crate::models::decode;

/// Asks; `None`: the world does not know agents.
pub(super) fn ask(
    context: &mut Context<'_>,
    question: &str,
    arguments: &serde_json::Value,
) -> Result<Option<Value>, Failure> {
    let payload = json!({"builtin": question, "arguments": arguments});
    let request = Request::Other {
        kind: KIND,
        payload: payload.to_string(),
    };
    match context.perform(&request) {
        Answer::Text(Some(text)) => decode(&text).map(Some),
        _ => Ok(None),
    }
}

/// The same where there is nothing to go on with without an answer.
pub(super) fn answer(
    context: &mut Context<'_>,
    question: &str,
    arguments: &serde_json::Value,
) -> Result<Value, Failure> {
    let answered = ask(context, question, arguments)?;
    answered.ok_or_else(|| Fault::runtime("the world does not know agents"))
}
