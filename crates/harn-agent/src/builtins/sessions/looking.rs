//! Looks at sessions. None of this counts as use.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;

/// `agent_session_exists(id)`.
pub(super) fn exists(call: Call<'_>) -> Result<Value, Thrown> {
    let id = call.text(0, "id")?;
    Ok(json!(call.runtime.session(id).is_some()))
}

/// `agent_session_length(id)`.
pub(super) fn length(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(json!(session.read(|state| state.messages.len())))
}

/// `agent_session_snapshot(id)`.
pub(super) fn snapshot(call: Call<'_>) -> Result<Value, Thrown> {
    let id = call.text(0, "id")?;
    let Some(session) = call.runtime.session(id) else {
        return Ok(Value::Null);
    };
    let mut new_id = || call.runtime.new_id();
    Ok(session.read(|state| {
        let mut snapshot = state.transcript(id, &mut new_id);
        snapshot["parent_id"] = json!(state.parent_id);
        snapshot["child_ids"] = json!(state.child_ids);
        snapshot["branched_at_event_index"] = json!(state.branched_at_event_index);
        snapshot
    }))
}

/// `agent_session_ancestry(id)`.
pub(super) fn ancestry(call: Call<'_>) -> Result<Value, Thrown> {
    let id = call.text(0, "id")?;
    let sessions = call.runtime.sessions();
    let Some(session) = sessions.get(id) else {
        return Ok(Value::Null);
    };
    let root_id = sessions.root_of(id);
    Ok(session.read(|state| {
        json!({
            "parent_id": state.parent_id,
            "child_ids": state.child_ids,
            "root_id": root_id,
        })
    }))
}

/// `agent_session_current_id()`.
pub(super) fn current_id(call: Call<'_>) -> Value {
    json!(call.asked.session_id)
}
