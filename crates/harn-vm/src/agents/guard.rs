//! Policies, where programs call builtins.
//!
//! A tool that is written in Harn may not do with a builtin what its policy forbids the tool.

use harn_agent::policy::{builtin_need, needs_host};
use harn_machine::{BuiltinId, Context, Failure, Value, argument};
use serde_json::json;

use super::{POLICY, SESSION, workspace};

/// Looks at a call in a task that runs inside a loop.
pub(super) fn check(
    context: &mut Context<'_>,
    builtin: BuiltinId,
    arguments: &[Value],
) -> Result<Option<Value>, Failure> {
    let name = builtin.name();
    let takes_paths = workspace::takes_paths(name);
    if builtin_need(name).is_none() && !needs_host(name) && !takes_paths {
        return Ok(None);
    }
    let values = &context.strand().values;
    let is_inside = values.get(SESSION).is_some();
    let policy = match values.get(POLICY) {
        Some(Value::Text(session)) => Some(session.clone()),
        _ => None,
    };
    if let Some(session) = policy {
        let operation = match argument(arguments, 0) {
            Value::Text(text) => json!(text.as_str()),
            _ => json!(null),
        };
        let asked = json!([session.as_str(), name, operation]);
        super::question::ask(context, "__check_builtin", &asked)?;
    }
    if takes_paths && is_inside {
        workspace::check(context, name, arguments)?;
    }
    Ok(None)
}
