//! What a command is, as policies and hooks see it.

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Registry, Request, Value, argument};
use sha2::{Digest, Sha256};

use crate::dates::iso8601;
use crate::encoding::{hex, uuid_of_time};
use crate::files::root::execution_root;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__command_context", command_context),
        ("__command_not_run", command_not_run),
    ]);
}

/// What stands in the place of a value that hooks do not see.
const REDACTED: &str = "[redacted]";

/// `__command_context(params, policy)`: what hooks see of a command.
fn command_context(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let params = dict(argument(arguments, 0));
    let policy = dict(argument(arguments, 1));
    let here = execution_root(context).display().to_string();
    let folder = field(&params, "cwd");
    let mut shown = policy.clone();
    // Hooks are functions: they mean nothing to whoever reads what was decided.
    shown.remove("pre");
    shown.remove("post");
    Ok(Value::dict([
        ("request", request(&params)),
        (
            "active_cwd",
            if folder.is_nil() { here.into() } else { folder },
        ),
        ("workspace_roots", field(&policy, "workspace_roots")),
        ("policy", shown.into()),
        ("tool_annotations", Dict::default().into()),
        ("transcript", Value::Nil),
        ("caller", Dict::default().into()),
    ]))
}

fn dict(value: &Value) -> Dict {
    match value {
        Value::Dict(dict) => dict.clone(),
        _ => Dict::default(),
    }
}

fn field(dict: &Dict, key: &str) -> Value {
    dict.get(key).cloned().unwrap_or_default()
}

/// A command without the values that may be secret.
fn request(params: &Dict) -> Value {
    let mode = match field(params, "mode") {
        Value::Nil => "shell".into(),
        mode => mode,
    };
    let shell = match field(params, "shell") {
        Value::Nil => field(params, "shell_id"),
        shell => shell,
    };
    let timeout = match field(params, "timeout_ms") {
        Value::Nil => field(params, "timeout"),
        timeout => timeout,
    };
    let env_mode = match (params.get("env"), field(params, "env_mode")) {
        (Some(Value::Dict(_)), Value::Nil) => "replace".into(),
        (_, mode) => mode,
    };
    Value::dict([
        ("mode", mode),
        ("argv", field(params, "argv")),
        ("command", field(params, "command")),
        ("shell", shell),
        ("cwd", field(params, "cwd")),
        ("env_diff", names_of(&field(params, "env"))),
        ("env_mode", env_mode),
        ("stdin", sized(&field(params, "stdin"))),
        ("timeout_ms", timeout),
    ])
}

/// The names of variables, without their values.
fn names_of(variables: &Value) -> Value {
    let names = dict(variables);
    let names = names.keys().map(|name| (name.clone(), REDACTED.into()));
    Value::Dict(names.collect())
}

/// How much there is to read, and what tells two inputs apart.
fn sized(input: &Value) -> Value {
    let text = match input {
        Value::Nil => return Value::Nil,
        input => input.to_text(),
    };
    let digest = Sha256::digest(text.as_bytes());
    Value::dict([
        ("size", text.len().into()),
        ("sha256", hex::encode(&digest).into()),
    ])
}

/// `__command_not_run(params, status, reason)`: the result of a command that was not run.
fn command_not_run(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let params = dict(argument(arguments, 0));
    let status = argument(arguments, 1).to_text();
    let reason = argument(arguments, 2).to_text();
    let is_blocked = status.as_str() == "blocked";
    let now = iso8601(context.now());
    let code = Value::Int(if is_blocked { -1 } else { 0 });
    let told = if is_blocked {
        reason.clone()
    } else {
        Text::new("")
    };
    let command_id = format!("cmd_{}", new_id(context));
    let audit_id = format!("audit_{}", new_id(context));
    let mut result = dict(&Value::dict([
        ("command_id", command_id.into()),
        ("status", status.into()),
        ("pid", Value::Nil),
        ("process_group_id", Value::Nil),
        ("handle_id", Value::Nil),
        ("started_at", now.as_str().into()),
        ("ended_at", now.as_str().into()),
        ("duration_ms", Value::Int(0)),
        ("exit_code", code.clone()),
        ("exit_status", code.clone()),
        ("legacy_status", code),
        ("signal", Value::Nil),
        ("timed_out", false.into()),
        ("stdout", "".into()),
        ("stderr", told.clone().into()),
        ("combined", told.into()),
        ("success", (!is_blocked).into()),
        ("reason", reason.clone().into()),
        ("message", reason.into()),
        ("audit_id", audit_id.into()),
        ("request", request(&params)),
    ]));
    if is_blocked {
        result.insert(Text::new("error"), "permission_denied".into());
    }
    Ok(result.into())
}

fn new_id(context: &mut Context<'_>) -> String {
    let random = match context.perform(&Request::Random(16)) {
        Answer::Octets(octets) => octets.try_into().unwrap_or_default(),
        _ => [0; 16],
    };
    uuid_of_time(context.now(), random)
}
