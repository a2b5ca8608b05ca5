//! Which messages go.

use std::ops::Range;

use serde_json::Value;

/// The messages that a summary is to replace; `None` if there is nothing to do.
///
/// The kept part starts with something a user said, so that the model meets no answer without
/// its question and no result without its call. If there is no such place, the counts are taken
/// as they are.
///
/// The kept part never gets smaller than `keep_last`. Tool calls and thoughts in it need no
/// further move back: it starts at a user message already, or there is none to move back to.
pub fn archived_range(
    messages: &[Value],
    keep_first: usize,
    keep_last: usize,
) -> Option<Range<usize>> {
    if messages.len() <= keep_first.saturating_add(keep_last) {
        return None;
    }
    let wanted = messages.len() - keep_last;
    let places = (keep_first + 1..=wanted).rev();
    // Where everything is archived no message follows, and any place will do.
    let mut starts = places.filter(|place| messages.get(*place).is_none_or(is_said_by_user));
    let split = starts.next().unwrap_or(wanted);
    Some(keep_first..split)
}

/// Whether a user said it; results of tools may come under the same role.
fn is_said_by_user(message: &Value) -> bool {
    let blocks = message["content"].as_array();
    let is_result = blocks.is_some_and(|blocks| {
        let mut kinds = blocks.iter().map(|block| &block["type"]);
        kinds.any(|kind| kind == "tool_result")
    });
    message["role"] == "user" && !is_result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Messages in letters: user, assistant, assistant with a call, its result as a message of
    /// a tool, and as a message of a user.
    pub(in crate::compaction) fn conversation(letters: &str) -> Vec<Value> {
        let message = |letter: char| match letter {
            'u' => json!({"role": "user", "content": "u"}),
            'a' => json!({"role": "assistant", "content": "a"}),
            'c' => json!({"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}),
            't' => json!({"role": "tool", "tool_call_id": "1", "content": "t"}),
            _ => json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "r"},
            ]}),
        };
        letters.chars().map(message).collect()
    }

    #[track_caller]
    fn check(letters: &str, keep_first: usize, keep_last: usize, expected: Option<Range<usize>>) {
        let found = archived_range(&conversation(letters), keep_first, keep_last);
        assert_eq!(found, expected, "{letters}");
    }

    #[test]
    fn few_messages_stay() {
        check("", 0, 0, None);
        check("uaua", 0, 4, None);
        check("uaua", 2, 2, None);
        check("uaua", usize::MAX, usize::MAX, None);
    }

    #[test]
    fn the_kept_part_starts_with_a_user() {
        check("uauaua", 0, 2, Some(0..4));
        check("uauaua", 0, 3, Some(0..2));
        check("uauaua", 0, 1, Some(0..4));
        check("uuaaaa", 0, 2, Some(0..1));
        check("uauaua", 1, 2, Some(1..4));
    }

    #[test]
    fn without_a_user_the_counts_decide() {
        check("uaaaaa", 0, 2, Some(0..4));
        check("uaaaaa", 1, 2, Some(1..4));
        check("uctctctct", 0, 2, Some(0..7));
        check("uctctctct", 0, 3, Some(0..6));
    }

    #[test]
    fn everything_can_go() {
        check("uaua", 0, 0, Some(0..4));
        check("uaua", 1, 0, Some(1..4));
        check("a", 0, 0, Some(0..1));
    }

    #[test]
    fn calls_stay_with_their_results() {
        check("uauact", 0, 1, Some(0..2));
        check("uauact", 0, 2, Some(0..2));
        check("uaucra", 0, 2, Some(0..2));
        check("uauctua", 0, 3, Some(0..2));
    }
}
