//! Where the code of a worker runs, if not where the program does.
//!
//! A worker may have a folder and variables of its own. Tasks that run for it carry them among
//! their values, under names that no program can write.

use std::path::{Path, PathBuf};

use harn_machine::{Context, ProcessRequest, Value};

/// The value of a task that says in which session's loop it runs.
pub const AGENT_SESSION: &str = "__agent_session";

/// The value of a task that names the worker it is a part of.
pub const WORKER: &str = "__agent_worker";

/// The value of a task that says where it runs: `{cwd, env}`.
pub const EXECUTION: &str = "__agent_execution";

/// The folder of the task, if it is not that of the program.
pub(crate) fn folder(context: &mut Context<'_>) -> Option<PathBuf> {
    match field(context, "cwd") {
        Value::Text(folder) => Some(PathBuf::from(folder.as_str())),
        _ => None,
    }
}

/// A variable that the task has of its own.
pub(crate) fn variable(context: &mut Context<'_>, name: &str) -> Option<String> {
    match field(context, "env") {
        Value::Dict(variables) => variables.get(name).map(|value| value.to_text().to_string()),
        _ => None,
    }
}

/// A process as the task would start it. What the call itself says counts more.
pub(crate) fn around(
    context: &mut Context<'_>,
    root: &Path,
    request: ProcessRequest,
) -> ProcessRequest {
    let mut request = request;
    if let Some(folder) = folder(context) {
        request.folder = Some(match request.folder {
            Some(own) => root.join(own),
            None => root.join(folder),
        });
    }
    if let (Value::Dict(variables), false) = (field(context, "env"), request.clear_environment) {
        let own = std::mem::take(&mut request.environment);
        let variables = variables.iter();
        let variables =
            variables.map(|(name, value)| (name.to_string(), value.to_text().to_string()));
        request.environment = variables.chain(own).collect();
    }
    // What a model wants is not what the program wants: its commands have no use for our keys.
    request.withholds_secrets = context.strand().values.get(AGENT_SESSION).is_some();
    request
}

fn field(context: &mut Context<'_>, key: &str) -> Value {
    match context.strand().values.get(EXECUTION) {
        Some(Value::Dict(execution)) => execution.get(key).cloned().unwrap_or(Value::Nil),
        _ => Value::Nil,
    }
}
