//! Stops one call of a tool.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Call;

/// Why a call stops if nobody says.
const USUAL_REASON: &str = "cancelled";

/// `cancel_in_flight_tool_call(session_id, call_id, opts?)`. A call that does not run, because
/// it is over or never was, is no mistake of whoever asks: it may have ended just now.
pub(super) fn cancel(call: Call<'_>) -> Result<Value, Thrown> {
    let session_id = call.text(0, "session_id")?;
    let call_id = call.text(1, "call_id")?;
    let options = call.options(2)?;
    let reason = call.option_text(&options, "reason")?;
    let reason = reason.unwrap_or(USUAL_REASON);
    let calls = &call.runtime.calls_in_flight;
    let is_cancelled = calls.cancel(session_id, call_id, reason);
    let error = (!is_cancelled).then(|| format!("no tool call '{call_id}' is running"));
    Ok(json!({
        "ok": is_cancelled,
        "cancelled": is_cancelled,
        "session_id": session_id,
        "call_id": call_id,
        "reason": reason,
        "error": error,
    }))
}
