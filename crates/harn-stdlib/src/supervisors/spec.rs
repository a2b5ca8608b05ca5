//! What `supervisor_start` is told.

use std::rc::Rc;

use harn_machine::value::{Dict, Text};
use harn_machine::{Closure, Failure, Fault, Value};

use super::policy::{Mode, Policy};
use crate::tasks::milliseconds;

/// How long children may take to stop unless it is told.
const SHUTDOWN_MS: i64 = 5000;

/// What a supervisor is to do.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: Option<Text>,
    pub(super) strategy: Strategy,
    pub(super) shutdown_ms: i64,
    pub(super) children: Vec<ChildSpec>,
}

/// What a child is.
#[derive(Debug)]
pub(super) struct ChildSpec {
    pub(super) name: Text,
    pub(super) kind: Text,
    pub(super) task: Rc<Closure>,
    pub(super) policy: Policy,
    pub(super) lease: Value,
}

/// What the failure of a child means for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    OneForOne,
    OneForAll,
    RestForOne,
    Escalate,
}

impl Strategy {
    const ALL: [Self; 4] = [
        Self::OneForOne,
        Self::OneForAll,
        Self::RestForOne,
        Self::Escalate,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OneForOne => "one_for_one",
            Self::OneForAll => "one_for_all",
            Self::RestForOne => "rest_for_one",
            Self::Escalate => "escalate_to_parent",
        }
    }
}

fn refuse<T>(message: impl AsRef<str>) -> Result<T, Failure> {
    let message = message.as_ref();
    Err(Fault::runtime(format!("supervisor_start: {message}")))
}

/// Reads a spec; with its id if it has one.
pub(super) fn read(spec: &Value) -> Result<(Option<Text>, Spec), Failure> {
    let spec = match spec {
        Value::Dict(spec) => spec,
        Value::Nil => return refuse("spec is required"),
        _ => return refuse("expected a dict"),
    };
    let policy = policy(spec.get("restart"), &Policy::default())?;
    let shutdown = time(spec, &["shutdown_ms", "drain_ms", "shutdown", "drain"]);
    let read = Spec {
        name: text(spec, "name"),
        strategy: strategy(spec)?,
        shutdown_ms: shutdown.unwrap_or(SHUTDOWN_MS).max(0),
        children: children(spec, &policy)?,
    };
    Ok((text(spec, "id"), read))
}

fn strategy(spec: &Dict) -> Result<Strategy, Failure> {
    let Some(name) = text(spec, "strategy") else {
        return Ok(Strategy::OneForOne);
    };
    let mut all = Strategy::ALL.into_iter();
    match all.find(|strategy| strategy.name() == name.as_str()) {
        Some(strategy) => Ok(strategy),
        None => refuse(format!("unknown strategy '{name}'")),
    }
}

fn children(spec: &Dict, policy: &Policy) -> Result<Vec<ChildSpec>, Failure> {
    let Some(Value::List(children)) = spec.get("children") else {
        return refuse("children must be a list");
    };
    if children.is_empty() {
        return refuse("children must include at least one child");
    }
    let children = children.iter().enumerate();
    children.map(|(at, spec)| child(at, spec, policy)).collect()
}

fn child(at: usize, spec: &Value, policy_of_all: &Policy) -> Result<ChildSpec, Failure> {
    let empty = Dict::default();
    let spec = match spec {
        Value::Dict(spec) => spec,
        _ => &empty,
    };
    let name = text(spec, "name").unwrap_or_else(|| Text::from(format!("child_{at}")));
    let Some(Value::Closure(task)) = field(spec, &["task", "handler"]) else {
        return refuse(format!("child '{name}' requires a task closure"));
    };
    Ok(ChildSpec {
        kind: text(spec, "kind").unwrap_or_else(|| Text::new("task")),
        task: task.clone(),
        policy: policy(spec.get("restart"), policy_of_all)?,
        lease: field(spec, &["active_lease", "lease"])
            .cloned()
            .unwrap_or_default(),
        name,
    })
}

/// A policy; the given one if nothing is said.
fn policy(value: Option<&Value>, default: &Policy) -> Result<Policy, Failure> {
    match value {
        None | Some(Value::Nil) => Ok(default.clone()),
        Some(Value::Text(name)) => Ok(Policy {
            mode: mode(name)?,
            ..Policy::default()
        }),
        Some(Value::Dict(dict)) => policy_of_dict(dict),
        Some(other) => {
            let name = other.type_name();
            refuse(format!(
                "restart policy must be a string or dict, got {name}"
            ))
        }
    }
}

fn policy_of_dict(dict: &Dict) -> Result<Policy, Failure> {
    let default = Policy::default();
    let mode = match field(dict, &["mode", "policy"]) {
        Some(name) => mode(&name.to_text())?,
        None => default.mode,
    };
    let factor = field(dict, &["factor", "backoff_factor"]).and_then(|value| match value {
        Value::Int(factor) => Some(*factor as f64),
        Value::Float(factor) => Some(*factor),
        _ => None,
    });
    let backoff = [
        "backoff_ms",
        "backoff",
        "initial_backoff_ms",
        "initial_backoff",
    ];
    Ok(Policy {
        mode,
        restarts_max: time(dict, &["max_restarts", "max"]),
        window_ms: time(dict, &["window_ms", "window"]).unwrap_or(default.window_ms),
        backoff_ms: time(dict, &backoff).unwrap_or(default.backoff_ms),
        backoff_max_ms: time(dict, &["max_backoff_ms", "max_backoff"])
            .unwrap_or(default.backoff_max_ms),
        factor: factor.unwrap_or(default.factor),
        jitter_ms: time(dict, &["jitter_ms", "jitter"]).unwrap_or(default.jitter_ms),
        circuit_open_ms: time(dict, &["circuit_open_ms", "circuit_open"]),
    })
}

fn mode(name: &str) -> Result<Mode, Failure> {
    match Mode::of_name(name) {
        Some(mode) => Ok(mode),
        None => refuse(format!("unknown restart mode '{name}'")),
    }
}

/// The first of some fields that is there.
fn field<'a>(dict: &'a Dict, names: &[&str]) -> Option<&'a Value> {
    let mut fields = names.iter().filter_map(|name| dict.get(name));
    fields.find(|value| !value.is_nil())
}

fn time(dict: &Dict, names: &[&str]) -> Option<i64> {
    milliseconds(field(dict, names)?)
}

fn text(dict: &Dict, name: &str) -> Option<Text> {
    field(dict, &[name]).map(Value::to_text)
}
