//! What holds for every conversation.

use harn_log::block_on;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

use super::{NoModel, Policy, Strategy, archived_range, compact, message, with};
use crate::transcript::messages_tokens;

fn truncate(keep_first: usize, keep_last: usize) -> Policy {
    Policy {
        keep_first,
        ..with(Strategy::Truncate, keep_last)
    }
}

/// Conversations as agents have them: what a user says, what the assistant says, and calls with
/// their results, in both ways of writing them.
fn conversations() -> impl proptest::strategy::Strategy<Value = Vec<Value>> {
    let turn = (0..4usize, "[a-z]{0,12}").prop_map(|(kind, text)| match kind {
        0 => vec![message("user", &text)],
        1 => vec![message("assistant", &text)],
        2 => vec![
            json!({"role": "assistant", "content": text, "tool_calls": [{"id": "1"}, {"id": "2"}]}),
            json!({"role": "tool", "tool_call_id": "1", "content": "r"}),
            json!({"role": "tool", "tool_call_id": "2", "content": "r"}),
        ],
        _ => vec![
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}),
        ],
    });
    proptest::collection::vec(turn, 0..24).prop_map(|turns| turns.concat())
}

fn is_result(message: &Value) -> bool {
    message["role"] == "tool" || message["content"][0]["type"] == "tool_result"
}

proptest! {
    #[test]
    fn the_ends_are_kept_and_the_rest_is_counted(
        messages in conversations(), keep_first in 0..6usize, keep_last in 0..12usize,
    ) {
        let policy = truncate(keep_first, keep_last);
        let result = block_on(compact(&policy, &messages, &NoModel)).expect("it succeeds");
        let Some(result) = result else {
            prop_assert!(messages.len() <= keep_first + keep_last);
            return Ok(());
        };
        prop_assert!(messages.len() > keep_first + keep_last);
        prop_assert_eq!(&result.messages[..keep_first], &messages[..keep_first]);
        prop_assert_eq!(&result.messages[keep_first]["content"], &json!(result.summary));
        prop_assert_eq!(&result.messages[keep_first + 1..], &messages[result.split..]);
        prop_assert!(messages.len() - result.split >= keep_last);
        prop_assert_eq!(result.archived, result.split - keep_first);
        prop_assert_eq!(result.archived, result.reported_archived);
        prop_assert_eq!(result.tokens_after, messages_tokens(&result.messages));
    }

    #[test]
    fn a_call_stays_with_its_results_where_a_user_speaks(
        messages in conversations(), keep_first in 0..6usize, keep_last in 0..12usize,
    ) {
        let Some(range) = archived_range(&messages, keep_first, keep_last) else {
            return Ok(());
        };
        let candidates = &messages[keep_first + 1..messages.len() - keep_last];
        let speaks = |message: &Value| message["role"] == "user" && !is_result(message);
        if candidates.iter().any(speaks) {
            let follows = messages.get(range.end);
            prop_assert!(follows.is_none_or(|message| !is_result(message)));
        }
    }

    #[test]
    fn compacting_again_does_nothing_where_the_rest_fits(
        messages in conversations(), keep_last in 0..12usize,
    ) {
        let policy = truncate(0, keep_last);
        let result = block_on(compact(&policy, &messages, &NoModel)).expect("it succeeds");
        let Some(first) = result else { return Ok(()) };
        let wider = truncate(0, first.messages.len());
        let again = block_on(compact(&wider, &first.messages, &NoModel)).expect("it succeeds");
        prop_assert_eq!(again, None);
    }
}
