//! The builtins that begin daemons. The functions in their options run inside the session of
//! the daemon, so that has to be known before they are let out.

use std::task::Poll;

use harn_machine::{Context, Failure, Value, Waiting, argument};
use harn_stdlib::{bound_tools, scope_command_policy};
use serde_json::json;

use super::builtins::{answered, current, inside, new_session_id, request, session_id};
use super::question::ask;

/// `daemon_spawn(config)`
pub(super) fn spawn(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let outer = current(context);
    let config = argument(arguments, 0);
    let nested = match config {
        Value::Dict(config) => config.get("options").cloned().unwrap_or(Value::Nil),
        _ => Value::Nil,
    };
    let id = match session_id(config).or_else(|| session_id(&nested)) {
        Some(id) => id,
        None => {
            let id = new_session_id(context)?;
            id.replacen("agent_session_", "daemon_session_", 1)
        }
    };
    let has_policy = has_policy(config) || has_policy(&nested);
    let config = config.clone();
    let request = inside(context, &id, has_policy, |context| {
        for options in [&nested, &config] {
            scope_command_policy(context, options)?;
        }
        let ids = (outer, Some(&*id));
        Ok(request(context, "daemon_spawn", arguments, ids))
    })?;
    answered(context, waiting, Some(request))
}

/// `daemon_resume(path)`: what is bound may have the handlers of the daemon's tools.
pub(super) fn resume(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() {
        return answered(context, waiting, None);
    }
    let outer = current(context);
    let path = argument(arguments, 0).clone();
    let id = session_of(context, &path)?.unwrap_or_default();
    let bound = bound_tools(context).map_or(Value::Nil, Value::Dict);
    let arguments = [path, bound];
    let request = inside(context, &id, true, |context| {
        let ids = (outer, None);
        Ok(request(context, "daemon_resume", &arguments, ids))
    })?;
    answered(context, waiting, Some(request))
}

fn has_policy(options: &Value) -> bool {
    match options {
        Value::Dict(options) => !matches!(options.get("policy"), None | Some(Value::Nil)),
        _ => false,
    }
}

/// The session of the daemon in a folder.
fn session_of(context: &mut Context<'_>, path: &Value) -> Result<Option<String>, Failure> {
    let Value::Text(path) = path else {
        return Ok(None);
    };
    let id = ask(context, "__daemon_session", &json!([path.as_str()]))?;
    Ok(match id {
        Some(Value::Text(id)) => Some(id.to_string()),
        _ => None,
    })
}
