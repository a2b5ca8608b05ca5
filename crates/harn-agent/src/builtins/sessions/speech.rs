//! How a session speaks with its model: the format of calls, and the system prompt.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;
use crate::session::kept;

/// The formats there are.
const FORMATS: [&str; 3] = ["text", "native", "json"];

/// `agent_session_tool_format(id)`.
pub(super) fn tool_format(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(json!(session.kept(kept::TOOL_FORMAT)))
}

/// `agent_session_claim_tool_format(id, format)`. A conversation in two formats confuses every
/// model, so the first claim stays.
pub(super) fn claim_tool_format(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let format = call.text(1, "format")?;
    if !FORMATS.contains(&format) {
        return call.refuse(format!(
            "unknown tool format '{format}' (expected 'text', 'native', or 'json')"
        ));
    }
    let claimed = session.keep_next(kept::TOOL_FORMAT, |before| match before {
        Some(before) => (None, before.as_str().map(str::to_owned)),
        None => (Some(json!(format)), None),
    });
    match claimed {
        Some(claimed) if claimed != format => call.refuse(format!(
            "session '{}' uses tool format '{claimed}' and cannot change to '{format}'",
            session.id()
        )),
        _ => Ok(json!(format)),
    }
}

/// `agent_session_system_prompt(id)`.
pub(super) fn system_prompt(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(json!(session.kept(kept::SYSTEM_PROMPT)))
}
