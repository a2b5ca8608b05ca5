//! The phase that asks the model.

use harn_events::AgentEvent;
use harn_llm::desk::{Thrown, TurnAnswer};
use harn_llm::grammar::visible;
use serde_json::json;

use super::stream::{Told, Watcher};
use super::turn::Turn;
use super::{Run, texts, whole_answer};
use crate::session::{About, AboutAnswer, AskedCall, Change};

/// Asks the model until its answer has the structure that was asked for. Nobody hears of the
/// answers before that, but they have cost something.
pub(super) async fn ask(run: &Run<'_>, mut turn: Turn) -> Result<Turn, Thrown> {
    let mut retries = turn.call().structured.retries;
    loop {
        let (answer, told) = whole_answer::ask(run, &mut turn).await?;
        let wrong = run.runtime.desk.structure_errors(turn.call(), &answer);
        let Some((errors, correction)) = wrong else {
            return Ok(accept(run, turn, answer, told).await);
        };
        if retries == 0 {
            let settled = run.runtime.desk.settle_structure(turn.call(), &errors);
            if let Err(thrown) = settled {
                count(run, String::new(), &answer);
                return Err(thrown);
            }
            return Ok(accept(run, turn, answer, told).await);
        }
        retries -= 1;
        count(run, String::new(), &answer);
        // The next answer stands for this one: its calls are not made.
        run.runtime.bus.close_aborted_calls(run.session.id());
        run.trace(json!({
            "type": "schema_retry",
            "attempt": turn.call().structured.retries - retries,
            "errors": errors,
            "nudge_used": correction.is_some(),
            "correction_prompt": correction,
        }));
        // Unlike a single call, the correction stays in the history.
        if let Some(correction) = correction {
            let message = texts::feedback("schema_retry", &correction);
            run.session.record(Change::MessageAdded {
                message: message.clone(),
            });
            if let Some(call) = &mut turn.call {
                call.request.messages.push(message);
            }
        }
    }
}

/// Asks once; gives also what was told while the answer came.
pub(super) async fn ask_once(run: &Run<'_>, turn: &Turn) -> Result<(TurnAnswer, Told), Thrown> {
    let mut watcher = Watcher::new(run);
    let asked = run
        .runtime
        .desk
        .turn(turn.call(), &mut |event| watcher.see(event))
        .await;
    let told = watcher.finish();
    let mut answer = match asked {
        Ok(answer) => answer,
        Err(thrown) => {
            // What the stream has announced will never arrive.
            run.runtime.bus.close_aborted_calls(run.session.id());
            run.runtime
                .bus
                .deliver_to_subscribers(run.session.id())
                .await;
            return Err(thrown);
        }
    };
    begin_with(
        &mut answer.reply.text,
        turn.call().request.prefill.as_deref(),
    );
    Ok((answer, told))
}

/// Takes an answer as that of the turn: writes it down, and tells what was not told yet.
async fn accept(run: &Run<'_>, mut turn: Turn, answer: TurnAnswer, told: Told) -> Turn {
    count(run, answer.reply.text.clone(), &answer);
    write_down(run, &turn, &answer);
    // What the model was paid for must not be lost. Whatever acts upon it waits for that: a call
    // before it changes something, the loop before it gives its result.
    run.session.sync_soon();
    let session_id = || run.id();
    if !told.thoughts
        && let Some(content) = answer
            .reply
            .thinking
            .clone()
            .filter(|text| !text.is_empty())
    {
        let session_id = session_id();
        run.session.emit(&AgentEvent::AgentThoughtChunk {
            session_id,
            content,
        });
    }
    if !told.text {
        let content = visible::sanitize(&answer.reply.text);
        if !content.is_empty() {
            let session_id = session_id();
            run.session.emit(&AgentEvent::AgentMessageChunk {
                session_id,
                content,
            });
        }
    }
    run.runtime
        .bus
        .deliver_to_subscribers(run.session.id())
        .await;
    turn.announced = told.calls;
    turn.answer = Some(Box::new(answer));
    turn
}

/// A text begins with what it was made to begin with, also where the provider leaves that out.
fn begin_with(text: &mut String, prefill: Option<&str>) {
    if let Some(prefill) = prefill
        && !text.starts_with(prefill)
    {
        text.insert_str(0, prefill);
    }
}

/// Counts what an answer has cost, and adds to what the loop has said.
pub(super) fn count(run: &Run<'_>, text: String, answer: &TurnAnswer) {
    run.session.record(Change::Answered {
        text,
        input_tokens: answer.reply.usage.input,
        output_tokens: answer.reply.usage.output,
        cost_usd: answer.cost_usd,
    });
}

/// Notes the answer in the transcript.
fn write_down(run: &Run<'_>, turn: &Turn, answer: &TurnAnswer) {
    let reply = &answer.reply;
    let calls = reply.tool_calls.iter().map(AskedCall::of);
    let about = AboutAnswer {
        model: answer.model.clone(),
        input_tokens: reply.usage.input,
        output_tokens: reply.usage.output,
        tool_calls: calls.collect(),
        thinking_summary: reply.thinking_summary.clone(),
        tool_calling_mode: turn.call().tool_format.clone(),
        structural_experiment: turn.call().structural_experiment.clone(),
    };
    let about = Some(About::Answer(Box::new(about)));
    run.note_about("provider_payload", "assistant", "internal", "", about);
    let told = [
        ("private_reasoning", &reply.thinking),
        ("thinking_summary", &reply.thinking_summary),
    ];
    for (kind, text) in told {
        if let Some(text) = text {
            run.note(kind, "assistant", "private", text, None);
        }
    }
}
