//! Turns that programs undo and do again.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::session::{Change, Session, SessionState};

/// `agent_session_rollback(id)`: nothing was said since the last loop began.
pub(super) fn rollback(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.idle(0, "id")?;
    call.runtime.sessions().touch(session.id());
    let can = |state: &SessionState| state.turns.done() > 0;
    Ok(step(&session, Change::RolledBack, can))
}

/// `agent_session_redo(id)`.
pub(super) fn redo(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.idle(0, "id")?;
    call.runtime.sessions().touch(session.id());
    let can = |state: &SessionState| state.turns.undone() > 0;
    Ok(step(&session, Change::Redone, can))
}

/// Goes one turn back or forth, if there is one; says how it is then.
fn step(session: &Session, change: Change, can: impl Fn(&SessionState) -> bool) -> Value {
    let is_done = session.decide(|state| match can(state) {
        true => (Some(change), true),
        false => (None, false),
    });
    session.read(|state| {
        json!({
            "ok": is_done,
            "session_id": session.id(),
            "message_count": state.messages.len(),
            "can_rollback": state.turns.done() > 0,
            "can_redo": state.turns.undone() > 0,
        })
    })
}
