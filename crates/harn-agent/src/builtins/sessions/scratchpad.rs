//! The pad of a session.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::session::Scratchpad;

/// `agent_session_scratchpad(id)`.
pub(super) fn get(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(json!(session.scratchpad().pad))
}

/// `agent_session_set_scratchpad(id, pad, opts?)`. With `expected_version` it writes only on
/// the version that the program has seen.
pub(super) fn set(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let pad = match Scratchpad::complete(call.dict(1, "scratchpad")?.clone()) {
        Ok(pad) => pad,
        Err(name) => return call.refuse(format!("`{name}` must be a list")),
    };
    let options = call.options(2)?;
    let expected = match options.get("expected_version") {
        None | Some(Value::Null) => None,
        Some(version) => match version.as_u64() {
            Some(version) => Some(version),
            None => return call.refuse("`expected_version` must be an int"),
        },
    };
    Ok(match session.set_scratchpad(Some(pad), expected) {
        Ok(now) => shown(&now),
        Err(now) => {
            let mut answer = shown(&now);
            answer["ok"] = json!(false);
            answer["error"] = json!(format!(
                "the scratchpad has version {}, not {}",
                now.version,
                expected.unwrap_or_default()
            ));
            answer
        }
    })
}

/// `agent_session_clear_scratchpad(id)`.
pub(super) fn clear(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let (Ok(now) | Err(now)) = session.set_scratchpad(None, None);
    Ok(shown(&now))
}

fn shown(scratchpad: &Scratchpad) -> Value {
    json!({"ok": true, "version": scratchpad.version, "scratchpad": scratchpad.pad})
}
