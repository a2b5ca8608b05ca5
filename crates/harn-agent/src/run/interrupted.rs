//! Calls of an earlier loop that have no result.
//!
//! A loop that was cancelled or killed while it made calls leaves them in the conversation.
//! Providers refuse a conversation whose calls have no results, so the session would be of no
//! use any more: instead each of them is answered with what happened to it.

use serde_json::{Value, json};

use super::Run;
use crate::session::{Change, missing_results};
use crate::tool_servers::calling;

/// Answers the calls at the end of the conversation that have no result.
pub(super) async fn answer_calls(run: &Run<'_>) {
    let results = run.session.read(|state| missing_results(&state.messages));
    for mut message in results {
        go_on(run, &mut message).await;
        run.session.record(Change::MessageAdded { message });
    }
}

/// A call that a server of tools goes on with has a result nevertheless.
async fn go_on(run: &Run<'_>, message: &mut Value) {
    let block = message["content"][0]["tool_use_id"].as_str();
    let Some(id) = block
        .or(message["tool_call_id"].as_str())
        .map(str::to_owned)
    else {
        return;
    };
    let Some(result) = calling::resumed(run.runtime, &run.session, &id).await else {
        return;
    };
    match message["content"].is_array() {
        true => message["content"][0]["content"] = json!(result),
        false => message["content"] = json!(result),
    }
}
