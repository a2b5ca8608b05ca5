//! The phase that asks the model.

use std::sync::atomic::Ordering;

use harn_events::AgentEvent;
use harn_llm::desk::{Thrown, TurnAnswer};
use harn_llm::grammar::visible;
use serde_json::json;

use super::stream::{Told, Watcher};
use super::turn::Turn;
use super::{Run, texts, whole_answer};
use crate::session::{About, AboutAnswer, AskedCall, Change, Session, StoredReply};

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
                count_only(run, "structure_retry", &answer);
                return Err(thrown);
            }
            return Ok(accept(run, turn, answer, told).await);
        }
        retries -= 1;
        count_only(run, "structure_retry", &answer);
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
    run.secure_answers().await;
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
    // Nothing comes between the last piece of the answer and this.
    let reply = StoredReply::of(&answer.reply, &answer.provider, &answer.model);
    count(run, &answer, Some(Box::new(reply)));
    write_down(run, &turn, &answer);
    // What the model was paid for must not be lost. What acts upon it waits for that: a call
    // before it is made, the next question to a model, the loop before it gives its result.
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

/// Counts what an answer has cost. If it is that of the turn, it adds to what the loop has said.
pub(super) fn count(run: &Run<'_>, answer: &TurnAnswer, reply: Option<Box<StoredReply>>) {
    run.session.record(Change::Answered {
        text: String::new(),
        input_tokens: answer.reply.usage.input,
        output_tokens: answer.reply.usage.output,
        cost_usd: answer.cost_usd,
        reply,
    });
    run.answers_secured.store(false, Ordering::Relaxed);
}

/// Counts what an answer has cost that becomes no turn. It was heard at some place of the loop
/// that asks again.
pub(super) fn count_only(run: &Run<'_>, place: &str, answer: &TurnAnswer) {
    let reply = StoredReply::of(&answer.reply, &answer.provider, &answer.model);
    run.hear(place, reply);
    count(run, answer, None);
}

impl Run<'_> {
    /// Writes down what a model has answered that is no turn.
    pub(in crate::run) fn hear(&self, place: &str, reply: StoredReply) {
        hear(&self.session, place, reply);
        self.answers_secured.store(false, Ordering::Relaxed);
    }
}

/// Writes down what a model has answered that is no turn.
pub(super) fn hear(session: &Session, place: &str, reply: StoredReply) {
    session.decide(|state| {
        let heard = Change::Heard {
            iteration: state.run.iteration,
            place: place.to_owned(),
            count: state.run.heard.get(place).copied().unwrap_or(0),
            reply: Box::new(reply),
        };
        (Some(heard), ())
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
