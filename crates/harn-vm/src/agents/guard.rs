//! Policies, where programs call builtins.
//!
//! A tool that is written in Harn may not do with a builtin what its policy forbids the tool.

use harn_agent::policy::{builtin_need, needs_host};
use harn_machine::{BuiltinId, Context, Failure, Value, argument};
use serde_json::json;

use super::{POLICY, workspace};

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
    let levels = ask(context, &asked)?;
    if takes_paths {
        for roots in levels {
            if let Some(value) = workspace::check(context, name, arguments, &roots)? {
                return Ok(Some(value));
            }
        }
    }
    Ok(None)
}

/// Asks whether a builtin may be called, and gives the folders that it may work in: lists, each
/// of which has to hold.
fn ask(context: &mut Context<'_>, asked: &serde_json::Value) -> Result<Vec<Vec<String>>, Failure> {
    let levels = super::question::ask(context, "__check_builtin", asked)?;
    let levels = levels.unwrap_or_default();
    Ok(items(&levels).map(texts).collect())
}

fn texts(roots: &Value) -> Vec<String> {
    let texts = items(roots).map(|root| root.to_text().to_string());
    texts.collect()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    let items = match value {
        Value::List(items) => Some(items.iter()),
        _ => None,
    };
    items.into_iter().flatten()
}
