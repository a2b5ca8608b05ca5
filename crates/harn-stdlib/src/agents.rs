//! Agents as values: a name and how its loop is to be run.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument, take, thrown};

use crate::expect::text;

/// What an agent tells its loop.
const OPTIONS: [&str; 11] = [
    "provider",
    "model",
    "thinking",
    "tools",
    "max_iterations",
    "tool_format",
    "structural_experiment",
    "context_callback",
    "context_filter",
    "tool_retries",
    "tool_backoff_ms",
];

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("agent", agent),
        ("agent_config", agent_config),
        ("agent_name", agent_name),
    ]);
}

/// `agent(name, config?)`
fn agent(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let config = match take(arguments, 1) {
        Value::Nil => Dict::default(),
        Value::Dict(config) => config,
        _ => return thrown("agent: second argument must be a config dict"),
    };
    let mut agent = Dict::default();
    agent.insert(Text::new("_type"), "agent".into());
    agent.insert(Text::new("name"), text(arguments, 0).into());
    for (key, value) in &config {
        agent.insert(key.clone(), value.clone());
    }
    Ok(agent.into())
}

/// `agent_config(agent, prompt)`
fn agent_config(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return thrown("agent_config: requires agent and prompt");
    }
    let agent = match argument(arguments, 0) {
        Value::Dict(agent) if is_agent(agent) => agent,
        Value::Dict(_) => {
            return thrown("agent_config: first argument must be an agent (created with agent())");
        }
        _ => return thrown("agent_config: first argument must be an agent"),
    };
    let options = OPTIONS.iter().filter_map(|key| {
        let value = agent.get(key)?;
        Some((*key, value.clone()))
    });
    Ok(Value::dict([
        ("prompt", text(arguments, 1).into()),
        ("system", agent.get("system").cloned().unwrap_or_default()),
        ("options", Value::dict(options)),
    ]))
}

/// `agent_name(agent)`
fn agent_name(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0) {
        Value::Dict(agent) if is_agent(agent) => Ok(agent.get("name").cloned().unwrap_or_default()),
        _ => thrown("agent_name: argument must be an agent"),
    }
}

fn is_agent(dict: &Dict) -> bool {
    matches!(dict.get("_type"), Some(Value::Text(label)) if &**label == "agent")
}
