//! The phase that makes the calls of a turn.
//!
//! ```text
//! announce ─► gates: arguments, policy, permissions, approval, hooks ─► start
//!     start ─► execute: replay, own tools, handler, host, MCP ─► shorten ─► hooks ─► finish
//! ```
//!
//! Calls run one after the other, except for a leading run of calls that only read: these pass
//! the gates in order, run together, and are finished in order.

mod approval;
mod events;
mod execute;
mod finish;
mod gates;
pub(super) mod load_skill;
mod middleware;
mod paths;
mod search;

use harn_events::ToolCallErrorCategory;
use harn_llm::desk::Thrown;
use harn_llm::grammar::contract::Mode;
use harn_log::{Joined, join};
use serde_json::{Value, json};

use super::messages::{Family, with_kept};
use super::turn::{Call, Turn, free_id};
use super::{Delivered, Run, begin, daemon, post_turn, texts};
use crate::host::Seam;
use crate::policy::is_read_only;
use crate::session::{Change, UntoldCall};
use events::Ending;
use execute::Executed;
use gates::Started;

/// Makes the calls of a turn.
pub(super) async fn dispatch(run: &Run<'_>, mut turn: Turn) -> Result<Turn, Thrown> {
    let said = begin::take_host_messages(run, Seam::PreToolDispatch);
    let host = said.len();
    // The seam counts what was said, so it comes after that.
    if host > 0 {
        post_turn::interrupt(run, &mut turn, said).await;
    }
    let is_interrupted = host > 0 && turn.had_calls;
    let delivered = Delivered {
        host,
        inbox: 0,
        dispatch_skipped: is_interrupted,
    };
    run.pass("pre_tool_dispatch", turn.number(), delivered)
        .await;
    if is_interrupted {
        turn.skipped = Some("interrupt_immediate");
    }
    if !turn.had_calls || turn.skipped.is_some() {
        return Ok(turn);
    }
    record_turn(run, &turn);
    run.session.record(Change::TextOnlyTurns { count: 0 });
    daemon::reset_backoff(run);
    let calls = std::mem::take(&mut turn.calls);
    let together = leading_reads(run, &calls);
    dispatch_together(run, &mut turn, &calls[..together]).await?;
    for call in &calls[together..] {
        dispatch_one(run, &mut turn, call).await?;
    }
    turn.calls = calls;
    for message in std::mem::take(&mut turn.feedback) {
        turn.late_feedback.push(message);
    }
    Ok(turn)
}

/// The assistant's turn, in the shape its provider takes it.
pub(super) fn record_turn(run: &Run<'_>, turn: &Turn) {
    let message = match run.mode {
        Mode::Native => {
            let answer = turn.answer();
            let wire = run.runtime.desk.wire(turn.speaks_like());
            let family = Family::of(wire);
            // A turn whose calls were written as text has that text already.
            let text = match answer.reply.tool_calls.is_empty() {
                true => &turn.history,
                false => answer.reply.text.trim(),
            };
            with_kept(family.assistant(text, &turn.calls), &answer.reply, wire)
        }
        Mode::Text | Mode::Json => json!({"role": "assistant", "content": turn.history}),
    };
    // First, so that there is no moment at which the turn is known and its calls are not.
    list_calls(run, &turn.calls);
    run.session.record(Change::MessageAdded { message });
}

/// The next loop must know which calls there were and which of them had begun, if this one ends
/// before their results are told.
fn list_calls(run: &Run<'_>, calls: &[Call]) {
    let untold = calls.iter().map(|call| UntoldCall {
        id: call.id.clone(),
        model_id: call.model_id.clone(),
        name: call.name.clone(),
        has_channel: !run.rides_on_text(),
        has_begun: false,
        result: None,
    });
    run.session.record(Change::CallsListed {
        calls: untold.collect(),
    });
}

/// How many calls at the beginning only read, if that are two at least.
fn leading_reads(run: &Run<'_>, calls: &[Call]) -> usize {
    let only_reads = |call: &&Call| {
        let annotations = run.annotations_of(&call.name);
        annotations.is_some_and(|annotations| is_read_only(annotations.kind))
    };
    match calls.iter().take_while(only_reads).count() {
        1 => 0,
        count => count,
    }
}

async fn dispatch_together(run: &Run<'_>, turn: &mut Turn, calls: &[Call]) -> Result<(), Thrown> {
    let mut started: Vec<Started> = Vec::new();
    for call in calls {
        // Readers could not tell two calls of one id apart that are open at once.
        let open = started.iter().map(|started| &*started.call.id);
        let call = Call {
            id: free_id(&call.id, open),
            ..call.clone()
        };
        started.extend(gates::pass(run, turn, &call).await?);
    }
    let executing = started
        .iter()
        .map(|started| Box::pin(execute::execute(run, started)) as Joined<'_, Executed>);
    let executed = join(executing.collect()).await;
    for (started, executed) in started.into_iter().zip(executed) {
        finish::finish(run, turn, started, executed).await?;
    }
    Ok(())
}

async fn dispatch_one(run: &Run<'_>, turn: &mut Turn, call: &Call) -> Result<(), Thrown> {
    if search::is_search(run, &call.name) {
        search::search(run, turn, call).await;
        return Ok(());
    }
    if load_skill::is_load(run, &call.name) {
        load_skill::load(run, turn, call).await;
        return Ok(());
    }
    let Some(started) = gates::pass(run, turn, call).await? else {
        return Ok(());
    };
    let executed = execute::execute(run, &started).await;
    finish::finish(run, turn, started, executed).await
}

/// Ends a call that was announced while the answer arrived, and that is answered or dropped
/// without being dispatched.
pub(super) async fn end_announced(
    run: &Run<'_>,
    turn: &Turn,
    call: &Call,
    outcome: Result<String, (String, ToolCallErrorCategory)>,
) {
    if !turn.announced.iter().any(|(_, id)| *id == call.id) {
        return;
    }
    let (text, failure) = match outcome {
        Ok(text) => (Some(text), None),
        Err(failure) => (None, Some(failure)),
    };
    let (error, category) = failure.unzip();
    let ending = Ending {
        raw_output: text.map(|text| json!({"text": text, "tool_use_id": call.model_id})),
        error,
        category,
        duration_ms: None,
        execution_duration_ms: None,
        executor: None,
    };
    run.tell_ending(call, ending).await;
}

/// Tells the model what came of a call: over its channel, or with the observations of the turn.
fn tell_result(run: &Run<'_>, turn: &mut Turn, call: &Call, text: &str) {
    match run.mode {
        Mode::Native => {
            let wire = run.runtime.desk.wire(turn.speaks_like());
            let message: Value = Family::of(wire).result(call, text);
            run.session.record(Change::MessageAdded { message });
        }
        Mode::Text | Mode::Json => {
            let shown = texts::observation(&call.name, text);
            turn.observations.push_str(&shown);
        }
    }
}

/// The same for a call that is answered without being made: of one that is made, the journal has
/// the result already.
fn tell_answer(run: &Run<'_>, turn: &mut Turn, call: &Call, text: &str) {
    if run.rides_on_text() {
        run.session.record(Change::CallAnswered {
            id: call.id.clone(),
            name: call.name.clone(),
            text: text.to_owned(),
        });
    }
    tell_result(run, turn, call, text);
}

/// A call that was admitted, and what runs it.
impl Started {
    fn call(&self) -> &Call {
        &self.call
    }
}
