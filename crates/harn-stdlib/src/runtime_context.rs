//! Where in a run a task is, and the values that belong to it.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Strand, Value, argument, take};

use crate::scopes::root_task;
use crate::surroundings::WORKER;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("runtime_context", describe),
        ("task_current", describe),
        ("runtime_context_get", get),
        ("runtime_context_set", set),
        ("runtime_context_clear", clear),
        ("runtime_context_values", values),
    ]);
}

/// What only those layers know that run workflows, agents and triggers. In a plain program
/// they are nil.
const FACTS_OF_OTHERS: [&str; 19] = [
    "agent_name",
    "agent_session_id",
    "binding_key",
    "capacity_class",
    "parent_agent_session_id",
    "provider",
    "root_agent_session_id",
    "run_id",
    "runner",
    "scheduler_key",
    "scope_id",
    "span_id",
    "stage_id",
    "tenant_id",
    "trace_id",
    "trigger_event_id",
    "trigger_id",
    "worker_id",
    "workflow_id",
];

/// `runtime_context()`: every fact is there, nil if it is not known.
fn describe(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let supervisors = crate::supervisors::states(context);
    let strand = context.strand();
    let facts = &strand.facts;
    let mut dict: Dict = FACTS_OF_OTHERS
        .into_iter()
        .map(|name| (Text::new(name), Value::Nil))
        .collect();
    let known = [
        ("task_id", facts.id.clone().into()),
        ("parent_task_id", facts.parent.clone().into()),
        ("root_task_id", root_task(facts).into()),
        ("task_name", facts.name.clone().into()),
        ("task_group_id", facts.group.clone().into()),
        ("context_values", own_values(strand).into()),
        ("cancelled", strand.is_cancelled().into()),
        ("debug", debug(strand, supervisors)),
    ];
    if let Some(worker) = strand.values.get(WORKER) {
        dict.insert(Text::new("worker_id"), worker.clone());
    }
    for (name, value) in known {
        dict.insert(Text::new(name), value);
    }
    Ok(dict.into())
}

fn debug(strand: &Strand, supervisors: Value) -> Value {
    let tasks = strand.children.iter().filter_map(|child| child.upgrade());
    let active = tasks.filter(|task| !task.is_gone());
    let active: Value = active.map(|task| Value::Text(task.id.clone())).collect();
    Value::dict([
        ("active_task_ids", active),
        ("cancelled", strand.is_cancelled().into()),
        ("held_synchronization", Value::list(Vec::new())),
        ("supervisors", supervisors),
        // Whoever asks is not waiting.
        ("waiting_reason", Value::Nil),
    ])
}

fn key(builtin: &str, arguments: &[Value]) -> Result<Text, Failure> {
    match argument(arguments, 0) {
        Value::Text(key) => Ok(key.clone()),
        _ => {
            let message = format!("{builtin}: first argument must be a string key");
            Err(Fault::runtime(message))
        }
    }
}

/// `runtime_context_get(key, fallback = nil)`
fn get(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let key = key("runtime_context_get", arguments)?;
    let value = context.strand().values.get_text(&key);
    Ok(value.unwrap_or(argument(arguments, 1)).clone())
}

/// `runtime_context_set(key, value)`: the value before.
fn set(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let key = key("runtime_context_set", arguments)?;
    let values = &mut context.strand().values;
    Ok(values.insert(key, take(arguments, 1)).into())
}

/// `runtime_context_clear(key)`: the value before.
fn clear(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let key = key("runtime_context_clear", arguments)?;
    Ok(context.strand().values.remove(&key).into())
}

/// The values that the program gave. What the runtime keeps there is not the program's.
fn own_values(strand: &Strand) -> Dict {
    let own = strand.values.iter();
    let own = own.filter(|(key, _)| !key.as_str().starts_with("__"));
    own.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn values(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(own_values(context.strand()).into())
}
