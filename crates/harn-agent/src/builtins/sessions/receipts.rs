//! What receipts say about a session: what it has changed, and for whom.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::session::kept;

/// `agent_session_record_changed_path(path, id?)`: whether the path is a new one.
pub(super) fn record_changed_path(call: Call<'_>) -> Result<Value, Thrown> {
    let path = call.text(0, "path")?;
    let Some(session) = call.named_or_current(1)? else {
        return call.refuse("no session is running and `id` is nil");
    };
    let is_new = session.keep_next(kept::CHANGED_PATHS, |before| {
        let mut paths = before.and_then(Value::as_array).cloned();
        let paths = paths.get_or_insert_default();
        if paths.iter().any(|other| other == path) {
            return (None, false);
        }
        paths.push(json!(path));
        (Some(json!(paths)), true)
    });
    Ok(json!(is_new))
}

/// `agent_session_actor_chain(id?)`: who acts, and on whose behalf, from the session itself to
/// the one it all comes from. Sessions that name no actor act for the next one.
pub(super) fn actor_chain(call: Call<'_>) -> Result<Value, Thrown> {
    let Some(session) = call.named_or_current(0)? else {
        return Ok(json!([]));
    };
    let sessions = call.runtime.sessions();
    let mut chain = Vec::new();
    let mut seen = Vec::new();
    let mut next = Some(session);
    while let Some(session) = next {
        chain.extend(session.kept(kept::ACTOR));
        seen.push(session.id().to_owned());
        let parent = session.read(|state| state.parent_id.clone());
        let parent = parent.filter(|parent| !seen.contains(parent));
        next = parent.and_then(|parent| sessions.get(&parent));
    }
    Ok(json!(chain))
}
