//! An answer of an earlier process that was not made a turn of.
//!
//! A process may die between the last piece of an answer and the message that is made of it. The
//! answer is in the journal, whole, and was paid for: the next loop of the session begins with
//! it, as if its own model had said it. Its calls were not made; what the model reads of them is
//! that they were not.

use super::dispatch::record_turn;
use super::post_turn::record_assistant;
use super::turn::Turn;
use super::{Run, reading};

/// Makes a turn of an answer that an earlier process has received and had no time to read.
pub(super) fn adopt(run: &Run<'_>) {
    let Some(unread) = run.session.read(|state| state.unread.clone()) else {
        return;
    };
    let mut turn = Turn::new(0);
    turn.call = Some(Box::new(run.call.clone()));
    turn.answer = Some(Box::new(unread.into_answer()));
    let turn = reading::read_unread(run, turn);
    match (turn.calls.is_empty(), turn.history.is_empty()) {
        (false, _) => record_turn(run, &turn),
        (true, false) => record_assistant(run, &turn),
        (true, true) => {} // Providers refuse turns in which nothing is said.
    }
}
