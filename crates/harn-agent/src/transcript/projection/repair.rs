//! Calls that failed.

use serde_json::Value;

use super::pairs::{Pair, pairs, without};
use super::view::View;

/// How much of an error a note has.
const NOTE_BYTES: usize = 200;

/// Without failed calls that a later call of the same tool has made good.
pub(super) fn clean(messages: &[Value]) -> View {
    let pairs = pairs(messages);
    let is_repaired = |failed: &&Pair| {
        let mut later = pairs.iter().filter(|pair| pair.call > failed.call);
        failed.failed && later.any(|pair| pair.name == failed.name && !pair.failed)
    };
    let repaired: Vec<&Pair> = pairs.iter().filter(is_repaired).collect();
    without(messages, &repaired, |_| None)
}

/// With a line in the place of each failed call.
pub(super) fn squash(messages: &[Value]) -> View {
    let pairs = pairs(messages);
    let failed: Vec<&Pair> = pairs.iter().filter(|pair| pair.failed).collect();
    without(messages, &failed, |pair| Some(note(pair)))
}

fn note(pair: &Pair) -> String {
    let line = pair.text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    let line = &line[..line.floor_char_boundary(NOTE_BYTES)];
    format!("[failed call of {}: {line}]", pair.name)
}
