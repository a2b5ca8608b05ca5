//! Calls of an earlier loop that have no result.
//!
//! A loop that was cancelled or killed while it made calls leaves them in the conversation.
//! Providers refuse a conversation whose calls have no results, so the session would be of no
//! use any more: instead each of them is answered with what happened to it. Calls that travel in
//! the text are answered as well, for what a model does not know of it may do twice.

use serde_json::{Value, json};

use super::{Run, texts};
use crate::session::{Change, INTERRUPTED, missing_results};
use crate::tool_servers::calling;

/// Answers the calls at the end of the conversation that have no result.
pub(super) async fn answer_calls(run: &Run<'_>) {
    let results = run.session.read(|state| missing_results(&state.messages));
    for mut message in results {
        go_on(run, &mut message).await;
        run.session.record(Change::MessageAdded { message });
    }
}

/// Tells the results of the last turn, where they are told as text and were not told yet.
pub(super) async fn tell_untold(run: &Run<'_>) {
    let untold = run.session.read(|state| state.untold.clone());
    if untold.is_empty() {
        return;
    }
    let mut observations = String::new();
    for call in untold {
        let result = match call.result {
            Some(result) => Some(result),
            None => calling::resumed(run.runtime, &run.session, &call.model_id).await,
        };
        let result = result.as_deref().unwrap_or(INTERRUPTED);
        observations.push_str(&texts::observation(&call.name, result));
    }
    run.tell("tool_results", observations.trim_end());
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
