//! What must hold after a conversation whose processes were killed.
//!
//! | promise | how it is seen |
//! |---|---|
//! | no answer is asked for again | no two requests are equal; an answer that something has followed from, or that the journal has, is a turn of every later request, once |
//! | no call is made twice | each takes effect once at most |
//! | the model is told what is known | its result, if the journal has it; "interrupted", if the call had begun; else "not made" |

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::model_server::{LedgerEntry, answer_of, calls_of, number_of};
use crate::campaign::model::{Checked, violation};

const INTERRUPTED: &str = "Error: the call was interrupted before it had a result. It may or may \
                           not have taken effect; check before you repeat it.";
const NOT_MADE: &str = "Error: the call was not made, because the program ended before. Nothing \
                        has happened; make it again if it is still wanted.";

/// Checks all of it. The last request of the ledger comes from a process that nobody killed.
pub(super) fn check(ledger: &[LedgerEntry], journal: &[Value]) -> Checked {
    check_requests(ledger)?;
    let effects = effects(ledger)?;
    let last = ledger.iter().rev().find_map(|entry| match entry {
        LedgerEntry::Asked { number, messages } => Some((*number, messages)),
        LedgerEntry::Effect(_) | LedgerEntry::Shown { .. } => None,
    });
    let Some((last_number, messages)) = last else {
        return violation!("no request has arrived");
    };
    let turns = turns_of(messages);
    check_answers(journal, &turns, last_number)?;
    let known = JournalKnowledge::of(journal);
    for turn in &turns {
        check_told(turn, &known, &effects)?;
    }
    for what in &effects {
        let is_of_a_turn = turns
            .iter()
            .any(|turn| answer_of(what) == Some(turn.number));
        if !is_of_a_turn {
            return violation!("call {what} took effect, and its answer is gone");
        }
    }
    Ok(())
}

/// No request is repeated, and none lacks an answer that something has followed from.
fn check_requests(ledger: &[LedgerEntry]) -> Checked {
    let mut seen = HashSet::new();
    let mut relied_upon = BTreeSet::new();
    for entry in ledger {
        match entry {
            LedgerEntry::Effect(what) => relied_upon.extend(answer_of(what)),
            LedgerEntry::Shown { number } => {
                relied_upon.insert(*number);
            }
            LedgerEntry::Asked { number, messages } => {
                if !seen.insert(Value::from(messages.clone()).to_string()) {
                    return violation!("request {number} repeats another");
                }
                let turns: Vec<u64> = turns_of(messages).iter().map(|one| one.number).collect();
                let distinct: BTreeSet<u64> = turns.iter().copied().collect();
                if distinct.len() != turns.len() {
                    return violation!("request {number} has an answer twice: {turns:?}");
                }
                if let Some(lost) = relied_upon.difference(&distinct).next() {
                    return violation!(
                        "answer {lost} is not in request {number}, and was paid for and acted upon"
                    );
                }
                relied_upon = distinct;
            }
        }
    }
    Ok(())
}

/// The calls that took effect.
fn effects(ledger: &[LedgerEntry]) -> Checked<BTreeSet<String>> {
    let mut effects = BTreeSet::new();
    for entry in ledger {
        if let LedgerEntry::Effect(what) = entry
            && !effects.insert(what.clone())
        {
            return violation!("call {what} took effect twice");
        }
    }
    Ok(effects)
}

/// Every answer that the journal has was told to the model as its own, and is there once.
fn check_answers(journal: &[Value], turns: &[ToldTurn], last_number: u64) -> Checked {
    let mut answered = BTreeSet::new();
    for change in journal.iter().filter(|one| one["change"] == "answered") {
        let text = change["reply"]["text"].as_str().unwrap_or_default();
        let Some(number) = number_of(text) else {
            return violation!("the journal has an answer that was never given: {change}");
        };
        if !answered.insert(number) {
            return violation!("the journal has answer {number} twice");
        }
        // Nobody was asked after the last one.
        if number != last_number && !turns.iter().any(|turn| turn.number == number) {
            return violation!("answer {number} is in the journal, and the model was not told");
        }
    }
    match turns.iter().find(|turn| !answered.contains(&turn.number)) {
        Some(turn) => violation!("turn {} is not in the journal as an answer", turn.number),
        None => Ok(()),
    }
}

/// What the journal knows of calls.
#[derive(Default)]
struct JournalKnowledge {
    started: BTreeSet<String>,
    finished: BTreeSet<String>,
}

impl JournalKnowledge {
    fn of(journal: &[Value]) -> Self {
        let mut known = Self::default();
        for change in journal {
            let what = change["arguments"]["what"].as_str();
            let text = change["text"].as_str().unwrap_or_default();
            match change["change"].as_str() {
                Some("call_started") => known.started.extend(what.map(str::to_owned)),
                Some("call_finished") => {
                    let what = text.strip_prefix("noted ");
                    known.finished.extend(what.map(str::to_owned));
                }
                _ => {}
            }
        }
        known
    }
}

/// A turn of the model and what it was told of its calls.
struct ToldTurn {
    number: u64,
    has_calls: bool,
    results: Vec<String>,
}

fn check_told(turn: &ToldTurn, known: &JournalKnowledge, effects: &BTreeSet<String>) -> Checked {
    if !turn.has_calls {
        return Ok(());
    }
    let calls = calls_of(turn.number);
    if calls.len() != turn.results.len() {
        let results = &turn.results;
        return violation!("the model was told of turn {}: {results:?}", turn.number);
    }
    for (call, told) in calls.iter().zip(&turn.results) {
        let what = &call.what;
        let expected = match (known.finished.contains(what), known.started.contains(what)) {
            (true, _) => format!("noted {what}"),
            (false, true) => INTERRUPTED.to_owned(),
            (false, false) => NOT_MADE.to_owned(),
        };
        if *told != expected {
            return violation!("the model was told of call {what}: {told}\nexpected: {expected}");
        }
        let has_effect = effects.contains(what);
        if known.finished.contains(what) && !has_effect {
            return violation!("call {what} has a result and took no effect");
        }
        // One that only reads is not waited for: to read again does no harm.
        if call.tool == "paint" && has_effect && !known.started.contains(what) {
            return violation!("call {what} took effect, and the model was told: {told}");
        }
    }
    Ok(())
}

/// The turns of a conversation, with what follows on each.
fn turns_of(messages: &[Value]) -> Vec<ToldTurn> {
    let mut turns: Vec<ToldTurn> = Vec::new();
    for message in messages {
        let content = message["content"].as_str().unwrap_or_default();
        let Some(turn) = turns.last_mut().filter(|_| message["role"] != "assistant") else {
            if message["role"] == "assistant" {
                let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
                turns.push(ToldTurn {
                    number: number_of(content).unwrap_or(0),
                    has_calls: calls > 0 || content.contains("<tool_call>"),
                    results: Vec::new(),
                });
            }
            continue;
        };
        if message["role"] == "tool" {
            turn.results.push(content.to_owned());
        } else if content.contains("kind=\"tool_results\"") {
            turn.results.extend(results_in(content));
        }
    }
    turns
}

/// The results that are told as text: `[result of look]\n…\n[end of look result]`.
fn results_in(content: &str) -> Vec<String> {
    let parts = content.split("[result of ").skip(1);
    let results = parts.filter_map(|part| {
        let (_, rest) = part.split_once("]\n")?;
        let (result, _) = rest.split_once("\n[end of ")?;
        Some(result.to_owned())
    });
    results.collect()
}
