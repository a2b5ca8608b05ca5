//! Policies, where programs call builtins.
//!
//! A tool that is written in Harn may not do with a builtin what its policy forbids the tool.

use harn_agent::policy::{builtin_need, needs_host};
use harn_machine::{Answer, BuiltinId, Context, Failure, Request, Value, argument};
use serde_json::json;

use super::{KIND, POLICY, workspace};
use crate::models::decode;

/// Looks at a call in a task that runs inside a loop with a policy.
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
    let Some(Value::Text(session)) = context.strand().values.get(POLICY).cloned() else {
        return Ok(None);
    };
    let operation = match argument(arguments, 0) {
        Value::Text(text) => json!(text.as_str()),
        _ => json!(null),
    };
    let asked = json!([session.as_str(), name, operation]);
    let roots = ask(context, &asked)?;
    match takes_paths && !roots.is_empty() {
        true => workspace::check(context, name, arguments, &roots),
        false => Ok(None),
    }
}

/// Asks whether a builtin may be called, and gives the folders that it may work in; none: all.
fn ask(context: &mut Context<'_>, asked: &serde_json::Value) -> Result<Vec<String>, Failure> {
    let payload = json!({"builtin": "__check_builtin", "arguments": asked});
    let request = Request::Other {
        kind: KIND,
        payload: payload.to_string(),
    };
    let roots = match context.perform(&request) {
        Answer::Text(Some(text)) => decode(&text)?,
        _ => return Ok(Vec::new()),
    };
    let Value::List(roots) = roots else {
        return Ok(Vec::new());
    };
    Ok(roots
        .iter()
        .map(|root| root.to_text().to_string())
        .collect())
}
