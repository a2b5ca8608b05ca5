//! One turn as the events of a stream.

use crate::mock::stop_of_word;
use crate::{Stop, StopReason, StreamEvent, Usage};

use super::Piece;
use super::cut::{self, Chance};
use super::file::{Call, Pace, Turn};

/// The answer of that number to a question of so many bytes, from its beginning to its end.
pub(super) fn perform(
    turn: &Turn,
    asked_bytes: u64,
    model: &str,
    number: u64,
    chance: Chance,
) -> Vec<Piece> {
    let mut stage = Stage {
        pieces: Vec::new(),
        pace: turn.pace,
        chance,
    };
    stage.at_once(
        turn.pace.first_pause_ms,
        StreamEvent::Start {
            id: Some(format!("scenario_{number}")),
            model: Some(model.to_owned()),
        },
    );
    let thought = |text| StreamEvent::ThoughtDelta { text };
    stage.speak(turn.thinking.as_deref(), thought);
    let summary = |text| StreamEvent::ThoughtSummaryDelta { text };
    stage.speak(turn.thinking_summary.as_deref(), summary);
    stage.speak(turn.text.as_deref(), |text| StreamEvent::TextDelta { text });
    stage.speak(turn.refusal.as_deref(), |text| StreamEvent::Refusal {
        text,
    });
    for (index, call) in turn.calls.iter().enumerate() {
        stage.call(index, call, number);
    }
    let usage = usage(turn, asked_bytes);
    stage.at_once(0, StreamEvent::Usage { usage });
    stage.at_once(0, StreamEvent::End { stop: stop(turn) });
    stage.pieces
}

/// Where pieces are collected.
struct Stage {
    pieces: Vec<Piece>,
    pace: Pace,
    chance: Chance,
}

impl Stage {
    fn at_once(&mut self, pause_ms: u64, event: StreamEvent) {
        self.pieces.push(Piece {
            pause_ms,
            event: Ok(event),
        });
    }

    /// After a pause between half and one and a half of the usual one.
    fn after_a_pause(&mut self, event: StreamEvent) {
        let usual = self.pace.pause_ms;
        let more = self.chance.below(usual.saturating_add(1).max(1));
        self.at_once((usual / 2).saturating_add(more), event);
    }

    fn speak(&mut self, text: Option<&str>, event: impl Fn(String) -> StreamEvent) {
        let text = text.unwrap_or_default();
        for piece in cut::text(text, self.pace.piece_chars, &mut self.chance) {
            self.after_a_pause(event(piece));
        }
    }

    fn call(&mut self, index: usize, call: &Call, number: u64) {
        let made_up = || format!("call_{number}_{}", index + 1);
        self.after_a_pause(StreamEvent::ToolCallStart {
            index,
            id: Some(call.id.clone().unwrap_or_else(made_up)),
            name: call.tool.clone(),
        });
        let pieces = cut::arguments(&call.arguments, self.pace.piece_chars, &mut self.chance);
        for text in pieces {
            self.after_a_pause(StreamEvent::ToolArgsDelta { index, text });
        }
        self.at_once(0, StreamEvent::ToolCallEnd { index });
    }
}

/// The script's word, or what a model would say: it waits for results if it called tools.
fn stop(turn: &Turn) -> Stop {
    if let Some(word) = &turn.stop {
        return stop_of_word(word);
    }
    let reason = match (&turn.refusal, turn.calls.is_empty()) {
        (Some(_), _) => StopReason::Refusal,
        (None, false) => StopReason::ToolUse,
        (None, true) => StopReason::End,
    };
    Stop { reason, word: None }
}

/// The script's counts, or about a token for every four bytes.
fn usage(turn: &Turn, asked_bytes: u64) -> Usage {
    let texts = [
        &turn.thinking,
        &turn.thinking_summary,
        &turn.text,
        &turn.refusal,
    ];
    let texts = texts.into_iter().flatten().map(String::len);
    let calls = turn
        .calls
        .iter()
        .map(|call| call.tool.len() + call.arguments.len());
    let said: usize = texts.chain(calls).sum();
    Usage {
        input: turn.usage.input.unwrap_or(tokens(asked_bytes)),
        output: turn.usage.output.unwrap_or(tokens(said as u64)),
        cache_read: turn.usage.cache_read,
        cache_write: turn.usage.cache_write,
        reasoning: turn.usage.reasoning,
        ..Usage::default()
    }
}

fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}
