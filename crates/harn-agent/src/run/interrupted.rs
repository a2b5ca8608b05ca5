//! Calls of an earlier loop whose results the model was not told.
//!
//! A loop that was cancelled or killed while it made calls leaves them in the conversation.
//! Providers refuse a conversation whose calls have no results, so the session would be of no
//! use any more: instead each of them is answered with what is known of it. Calls that travel in
//! the text are answered as well, for what a model does not know of it may do twice.
//!
//! | the call | the model reads |
//! |---|---|
//! | has an outcome | its result |
//! | goes on as the task of a tool server | what comes of the task |
//! | has begun | that it was interrupted |
//! | has not begun | that it was not made |

use serde_json::{Value, json};

use super::{Run, texts};
use crate::session::{Change, INTERRUPTED, NOT_MADE, UntoldCall, missing_results};
use crate::tool_servers::calling;

/// Answers the calls at the end of the conversation that have no result.
pub(super) async fn answer_calls(run: &Run<'_>) {
    let results = run.session.read(|state| missing_results(&state.messages));
    for mut message in results {
        let known = run.session.read(|state| {
            let mut calls = state.untold.iter();
            calls.find(|call| call.is_told_in(&message)).cloned()
        });
        match known {
            Some(call) => set_result(&mut message, what_is_known(run, &call).await),
            // Earlier versions did not note which calls had begun.
            None => go_on(run, &mut message).await,
        }
        run.session.record(Change::MessageAdded { message });
    }
}

/// Tells the results of the last turn, where they are told as text and were not told yet.
pub(super) async fn tell_untold(run: &Run<'_>) {
    let mut untold = run.session.read(|state| state.untold.clone());
    untold.retain(|call| !call.has_channel);
    if untold.is_empty() {
        return;
    }
    let mut observations = String::new();
    for call in untold {
        let result = what_is_known(run, &call).await;
        observations.push_str(&texts::observation(&call.name, &result));
    }
    run.tell(texts::TOOL_RESULTS, observations.trim_end());
}

/// What the model reads of a call.
async fn what_is_known(run: &Run<'_>, call: &UntoldCall) -> String {
    if let Some(result) = &call.result {
        return result.clone();
    }
    let task = calling::resumed(run.runtime, &run.session, &call.model_id).await;
    task.unwrap_or_else(|| {
        let text = if call.has_begun {
            INTERRUPTED
        } else {
            NOT_MADE
        };
        text.to_owned()
    })
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
    if let Some(result) = calling::resumed(run.runtime, &run.session, &id).await {
        set_result(message, result);
    }
}

fn set_result(message: &mut Value, result: String) {
    match message["content"].is_array() {
        true => message["content"][0]["content"] = json!(result),
        false => message["content"] = json!(result),
    }
}
