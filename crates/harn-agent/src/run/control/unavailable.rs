//! Options that the loop knows and cannot follow yet.
//!
//! Whoever writes `step_judge` relies on somebody looking at every step. A loop that went on
//! without one would be worse than one that says that it cannot.

use harn_llm::desk::Thrown;
use harn_llm::options::value::truthy;
use serde_json::{Value, json};

use super::options::Given;

/// Those that are a function.
const CLOSURES: &[&str] = &["llm_caller", "message_decorator"];

/// Those that are switched on, or by a dict.
const SWITCHES: &[&str] = &[
    "step_judge",
    "missing_tool_call_recovery",
    "read_only_stance",
    "tool_surface_narrowing",
    "scratchpad",
    "stall_diagnostics",
    "compass",
    "timestamp_messages",
];

/// # Errors
/// One of them has the wrong type, or is switched on.
pub(super) fn refuse(given: Given<'_>) -> Result<(), Thrown> {
    for key in CLOSURES {
        if given.closure(key)?.is_some() {
            return not_available(key);
        }
    }
    for key in SWITCHES {
        if given.is_on(key)? && !says(given, key, "mode", &json!("off")) {
            return not_available(key);
        }
    }
    // There are none that `false` would have to turn off.
    let is_wanted = given.0.get("reminders").is_some_and(truthy);
    match is_wanted && !says(given, "reminders", "enabled", &json!(false)) {
        true => not_available("reminders"),
        false => Ok(()),
    }
}

/// Whether an option is a dict that says this.
fn says(given: Given<'_>, key: &str, field: &str, value: &Value) -> bool {
    let config = given.0.get(key);
    config.is_some_and(|config| config.get(field) == Some(value))
}

fn not_available(key: &str) -> Result<(), Thrown> {
    Err(Thrown::Runtime(format!(
        "agent_loop: `{key}` is not available in this build"
    )))
}
