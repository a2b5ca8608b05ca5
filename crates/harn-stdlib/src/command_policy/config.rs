//! What a program says about commands.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};
use harn_options::{COMMAND_POLICY, Unknown};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("command_policy", command_policy)]);
}

/// `command_policy(config)`
fn command_policy(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0) {
        Value::Dict(config) => policy(config).map(Value::Dict),
        _ => Err(Fault::runtime("command_policy: config dict is required")),
    }
}

/// A policy with all that nobody said.
pub(super) fn policy(config: &Dict) -> Result<Dict, Failure> {
    for (key, _) in config.iter() {
        if let Some(unknown) = Unknown::find(&COMMAND_POLICY, "", key, |_| false) {
            return Err(Fault::runtime(format!("command_policy: {unknown}")));
        }
    }
    for key in [
        "tools",
        "workspace_roots",
        "deny_patterns",
        "require_approval",
    ] {
        expect(config, key, "a list", |value| {
            matches!(value, Value::List(_))
        })?;
    }
    for key in ["pre", "post"] {
        expect(config, key, "a closure", Value::is_callable)?;
    }
    expect(config, "default_shell_mode", "a string", |value| {
        matches!(value, Value::Text(_))
    })?;
    expect(config, "allow_recursive", "a bool", |value| {
        matches!(value, Value::Bool(_))
    })?;
    let mut policy = config.clone();
    for (key, usual) in [
        ("default_shell_mode", Value::from("argv_only")),
        ("workspace_roots", Value::list(Vec::new())),
        ("deny_patterns", Value::list(Vec::new())),
        ("require_approval", Value::list(Vec::new())),
    ] {
        if policy.get(key).is_none_or(Value::is_nil) {
            policy.insert(Text::new(key), usual);
        }
    }
    policy.insert(Text::new("_type"), "command_policy".into());
    Ok(policy)
}

fn expect(
    config: &Dict,
    key: &str,
    wanted: &str,
    is_fine: impl Fn(&Value) -> bool,
) -> Result<(), Failure> {
    match config.get(key) {
        None | Some(Value::Nil) => Ok(()),
        Some(value) if is_fine(value) => Ok(()),
        Some(value) => {
            let found = value.type_name();
            let problem = format!("command_policy.{key} must be {wanted}, got {found}");
            Err(Fault::runtime(problem))
        }
    }
}
