//! The last word of a loop that was stopped by a ceiling.
//!
//! A loop that runs out of turns or of time ends in the middle of something, and whoever reads
//! its result learns nothing of how far it came. With `final_wrapup` the model is asked once more,
//! without tools, and can tell.

use harn_llm::desk::Thrown;
use harn_llm::grammar::{self, ToolNames};
use harn_llm::options::CallOptions;
use harn_llm::wire::Wire;
use harn_llm::{Output, SharedList};
use serde_json::json;

use super::post_turn::record_assistant;
use super::turn::Turn;
use super::{Run, model_call, preflight, texts};
use crate::session::Change;

/// The ceilings that leave something to pay a call with. Tokens and money that are spent are
/// spent, and a model that could not be reached will not be reached now.
const PAYABLE: &[&str] = &["max_iterations", "deadline", "wall_clock"];

/// What the model is told.
const TEXT: &str = "The work ends here: its budget is used up, and no more tools can be called. \
                    Say what was done, what was found out and what is left to do.";

/// Asks for a last word, if it was asked for and can be paid. A loop that was stopped has its
/// result also without one, so a failure is only reported.
pub(super) async fn conclude(run: &Run<'_>, exhausted: &str) {
    if !run.controls.wraps_up || !PAYABLE.contains(&exhausted) || run.has_spent_its_money() {
        return;
    }
    if let Err(thrown) = ask(run).await {
        run.runtime.warn("agent.final_wrapup", &thrown.to_string());
    }
}

async fn ask(run: &Run<'_>) -> Result<(), Thrown> {
    let iteration = run.session.read(|state| state.run.iteration);
    let mut turn = preflight::make_call(run, Turn::new(iteration)).await?;
    if let Some(call) = &mut turn.call {
        take_tools(run, call);
        let message = texts::injection("final_wrapup", TEXT);
        call.request.messages.push(message);
    }
    if run.runtime.desk.over_budget(turn.call()).is_some() {
        return Ok(());
    }
    let mut turn = model_call::ask(run, turn).await?;
    let text = &turn.answer().reply.text;
    let sentinel = Some(&*run.options.done_sentinel);
    let parsed = grammar::parse(text, &ToolNames::default(), sentinel);
    turn.history = texts::bounded_history(text.trim());
    let last_text = parsed.prose.trim();
    if !last_text.is_empty() {
        run.session.record(Change::TurnRead {
            last_text: last_text.to_owned(),
        });
    }
    // Providers refuse turns in which nothing is said.
    if !turn.history.is_empty() {
        record_assistant(run, &turn);
    }
    Ok(())
}

/// Takes the tools out of a call, wherever they stand.
fn take_tools(run: &Run<'_>, call: &mut CallOptions) {
    let request = &mut call.request;
    // What somebody has put in its place is left alone.
    if request.system == run.system_prompt() {
        request.system = run.prompt_without_tools();
    }
    request.tool_search = None;
    call.search = None;
    // It wants to be told of the tools whose calls it finds in the conversation, unless it has
    // one to give the answer with.
    let is_told = !request.tools.is_empty() && request.output == Output::Text;
    if is_told && run.runtime.desk.wire(&call.provider) == Some(Wire::Anthropic) {
        request.tool_choice = Some(json!("none"));
        return;
    }
    request.tools = SharedList::default();
    request.tool_choice = None;
    call.native_tools = None;
}
