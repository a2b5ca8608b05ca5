//! Asks again for an answer that ended too early to be of use.
//!
//! An answer may have so many tokens and no more. If they went into thoughts that nobody sees, or
//! ran out in the middle of a call, the same question with more room costs less than a turn that
//! tells the model so.

use harn_llm::StopReason;
use harn_llm::desk::{Thrown, TurnAnswer};
use harn_llm::grammar::contract::Mode;
use harn_llm::grammar::{Candidate, Candidates, Channel, ToolNames};

use super::stream::Told;
use super::turn::Turn;
use super::{Run, model_call, overflow, reading};
use crate::session::StoredReply;

/// How often there is more room for one answer.
const CONTINUATIONS_MAX: u32 = 2;

/// The most tokens that an answer is given by itself.
const CAP_TOKENS_MAX: u64 = 32_768;

/// Asks until the answer is of use, or there is no more room to give. The others have cost
/// something and are heard of no more.
pub(super) async fn ask(run: &Run<'_>, turn: &mut Turn) -> Result<(TurnAnswer, Told), Thrown> {
    let mut last = model_call::ask_once(run, turn).await?;
    for attempt in 1..=CONTINUATIONS_MAX {
        if !is_cut(run, &last.0, &last.1) {
            break;
        }
        let Some((cap, raised)) = raise_cap(run, turn) else {
            break;
        };
        let reply = &last.0.reply;
        run.hear(
            "continuation",
            StoredReply::of(reply, &last.0.provider, &last.0.model),
        );
        run.runtime.bus.close_aborted_calls(run.session.id());
        let content = format!("{cap}->{raised} (attempt {attempt}/{CONTINUATIONS_MAX})");
        run.report("llm_auto_continue", content).await;
        let next = match model_call::ask_once(run, turn).await {
            Ok(next) => next,
            // The model cannot write so much. What it has written is better than nothing.
            Err(thrown) if is_refused(&thrown) => {
                last.1.calls.clear();
                break;
            }
            Err(thrown) => {
                model_call::count(run, &last.0, None);
                return Err(thrown);
            }
        };
        model_call::count(run, &last.0, None);
        last = next;
    }
    Ok(last)
}

/// Doubles the tokens that the answer may have; gives how many they were and are, if there may
/// be more and they can be paid for.
fn raise_cap(run: &Run<'_>, turn: &mut Turn) -> Option<(u64, u64)> {
    let call = turn.call.as_mut()?;
    let cap = call.request.sampling.max_tokens;
    let raised = cap.saturating_mul(2).min(CAP_TOKENS_MAX);
    if raised <= cap {
        return None;
    }
    call.request.sampling.max_tokens = raised;
    if run.runtime.desk.over_budget(call).is_some() {
        call.request.sampling.max_tokens = cap;
        return None;
    }
    Some((cap, raised))
}

/// Whether a provider does not accept the question with that much room.
fn is_refused(thrown: &Thrown) -> bool {
    let is_invalid = matches!(thrown, Thrown::Dict(dict) if dict["reason"] == "invalid_request");
    is_invalid || overflow::is_overflow(thrown)
}

/// Whether an answer ended before it said or did anything, or in the middle of a call.
fn is_cut(run: &Run<'_>, answer: &TurnAnswer, told: &Told) -> bool {
    let reply = &answer.reply;
    let stop = reply.stop.as_ref();
    if stop.is_none_or(|stop| stop.reason != StopReason::Length) {
        return false;
    }
    let is_broken = |arguments: &serde_json::Value| arguments.get("__parse_error").is_some();
    let calls = &reply.tool_calls;
    let has_cut_call =
        told.calls.len() > calls.len() || calls.iter().any(|call| is_broken(&call.arguments));
    has_cut_call
        || (calls.is_empty() && (ends_in_call(run, &reply.text) || says_nothing(run, &reply.text)))
}

/// Whether a text ends in the middle of a call.
fn ends_in_call(run: &Run<'_>, text: &str) -> bool {
    if !run.has_tools {
        return false;
    }
    let channel = match run.mode {
        Mode::Json => Channel::Fenced,
        Mode::Text | Mode::Native => Channel::Tagged,
    };
    let names: ToolNames = run.offered_names().collect();
    let mut candidates = Candidates::new(names, channel, 0);
    let mut found = candidates.push(text);
    // The last line of a block is one only when it is over.
    found.extend(candidates.push("\n"));
    let is_opened = |candidate: &&Candidate| matches!(candidate, Candidate::Opened { .. });
    let opened = found.iter().filter(is_opened).count();
    let ended = found.len() - opened;
    opened > ended
}

/// Whether a text has nothing in it but thoughts.
fn says_nothing(run: &Run<'_>, text: &str) -> bool {
    let parsed = reading::parse(run, text);
    parsed.prose.trim().is_empty()
        && parsed.calls.is_empty()
        && parsed.errors.is_empty()
        && parsed.done_marker.is_none()
        && parsed.user_response.is_none()
}
