//! Policies, where programs call builtins.
//!
//! A tool that is written in Harn may not do with a builtin what its policy forbids the tool.

use harn_agent::policy::{builtin_need, needs_host};
use harn_machine::{Answer, BuiltinId, Context, Failure, Request, Value, argument};
use serde_json::json;

use super::{KIND, POLICY};
use crate::models::decode;

/// Looks at a call in a task that runs inside a loop with a policy.
pub(super) fn check(
    context: &mut Context<'_>,
    builtin: BuiltinId,
    arguments: &[Value],
) -> Result<(), Failure> {
    let name = builtin.name();
    if builtin_need(name).is_none() && !needs_host(name) {
        return Ok(());
    }
    let Some(Value::Text(session)) = context.strand().values.get(POLICY).cloned() else {
        return Ok(());
    };
    let operation = match argument(arguments, 0) {
        Value::Text(text) => json!(text.as_str()),
        _ => json!(null),
    };
    let payload = json!({
        "builtin": "__check_builtin",
        "arguments": [session.as_str(), name, operation],
    });
    let request = Request::Other {
        kind: KIND,
        payload: payload.to_string(),
    };
    match context.perform(&request) {
        Answer::Text(Some(text)) => decode(&text).map(drop),
        _ => Ok(()),
    }
}
