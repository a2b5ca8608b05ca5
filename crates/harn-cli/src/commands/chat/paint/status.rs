//! The last row: what goes on, and what it takes.

use super::super::view::View;
use crate::amounts::{clock, dollars, tokens};
use crate::columns::{fit, width};

/// What goes on is not cut to less than this; the meters go before.
const LEFT_COLUMNS_MIN: usize = 14;

/// The row, in so many columns: `12s · run cargo test        gpt-4o · 6% of 200k · $0.0123`.
pub(super) fn row(view: &View, now_ms: u64, columns: usize) -> String {
    let left = left(view, now_ms);
    let mut meters = meters(view);
    loop {
        let right = meters.join(" · ");
        let room = columns.saturating_sub(width(&right) + 2);
        if width(&left) <= room || room >= LEFT_COLUMNS_MIN || meters.is_empty() {
            let left = fit(&left, if right.is_empty() { columns } else { room });
            let gap = columns.saturating_sub(width(&left) + width(&right));
            return format!("{left}{}{right}", " ".repeat(gap));
        }
        meters.remove(0);
    }
}

fn left(view: &View, now_ms: u64) -> String {
    let Some(turn) = view.turn() else {
        return "ready · /help".to_owned();
    };
    let elapsed = clock(now_ms.saturating_sub(turn.started_ms));
    match turn.is_stopping {
        true => format!("{elapsed} · stopping"),
        false => format!("{elapsed} · {}", view.doing()),
    }
}

/// The least important first.
fn meters(view: &View) -> Vec<String> {
    let meter = &view.meter;
    let mut parts = Vec::new();
    if !meter.model.is_empty() {
        parts.push(meter.model.clone());
    }
    match (meter.percent(), meter.context_window) {
        (Some(percent), Some(window)) => {
            parts.push(format!("{percent}% of {}", tokens(window)));
        }
        _ if meter.context_tokens > 0 => parts.push(tokens(meter.context_tokens)),
        _ => {}
    }
    parts.push(dollars(meter.cost_usd));
    parts
}
