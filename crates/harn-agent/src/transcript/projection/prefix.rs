//! A summary for the beginning of a conversation.

use harn_llm::options::value::Options;
use serde_json::{Value, json};

use super::view::{Fate, View};
use crate::compaction::archived_range;

/// The summary in the place of what it sums up: of the message that a compaction has put in, or
/// of messages that are no longer there. With `keep_last`, also of all but the last messages.
pub(super) fn summarised(messages: &[Value], summary: Option<&str>, options: Options<'_>) -> View {
    let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else {
        return View::of(messages, Vec::new());
    };
    let prefix = json!({"role": "user", "content": summary});
    let archived = archived(messages, options);
    if archived == 0 && messages.first() == Some(&prefix) {
        return View::of(messages, Vec::new());
    }
    let stand_in = usize::from(messages.first().is_some_and(stands_for_others));
    let mut view = View::of(messages, vec![Fate::Dropped; archived.max(stand_in)]);
    view.put_before(prefix);
    view
}

/// How many messages `keep_last` leaves to the summary.
fn archived(messages: &[Value], options: Options<'_>) -> usize {
    let keep_last = options.count("keep_last");
    let keep_last = keep_last.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let range = keep_last.and_then(|keep_last| archived_range(messages, 0, keep_last));
    range.map_or(0, |range| range.end)
}

/// Whether a compaction has put a message in.
fn stands_for_others(message: &Value) -> bool {
    let text = message["content"].as_str().unwrap_or_default();
    message["role"] == "user" && text.starts_with("[auto-compact")
}
