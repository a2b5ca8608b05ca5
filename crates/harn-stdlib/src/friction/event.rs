//! An event: something that got in the way, in one form whoever tells it.

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Fault, Registry, Request, Value, argument};

use super::{redact, text_of};
use crate::dates::iso8601;
use crate::encoding::uuid_of_time;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("friction_event", friction_event)]);
}

/// What can get in the way.
const KINDS: [&str; 9] = [
    "repeated_query",
    "repeated_clarification",
    "approval_stall",
    "missing_context",
    "manual_handoff",
    "tool_gap",
    "failed_assumption",
    "expensive_model_used_for_deterministic_step",
    "human_hypothesis",
];

/// Fields that are kept as they are, and are nil if nobody says anything.
const PLAIN: [&str; 12] = [
    "source",
    "actor",
    "tenant_id",
    "task_id",
    "run_id",
    "workflow_id",
    "tool",
    "provider",
    "estimated_cost_usd",
    "estimated_time_ms",
    "trace_id",
    "span_id",
];

/// `friction_event(payload)`
fn friction_event(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    event(context, argument(arguments, 0)).map(Value::Dict)
}

/// An event in its one form, without what should not be kept.
pub(super) fn event(context: &mut Context<'_>, payload: &Value) -> Result<Dict, Failure> {
    let Value::Dict(payload) = payload else {
        let found = payload.type_name();
        let problem = format!("friction_event: payload must be a dict, got {found}");
        return Err(Fault::runtime(problem));
    };
    let kind = kind(payload)?;
    let summaries = ["redacted_summary", "summary", "message"];
    let summary = summaries.iter().find_map(|key| text_of(payload, key));
    let Some(summary) = summary else {
        return Err(Fault::runtime("friction_event: missing redacted_summary"));
    };
    let mut event = Dict::default();
    let mut set = |key: &str, value: Value| drop(event.insert(Text::new(key), value));
    for key in PLAIN {
        set(key, payload.get(key).cloned().unwrap_or_default());
    }
    set("schema_version", Value::Int(1));
    set("kind", kind.into());
    set("redacted_summary", redact::text(summary).into());
    set("recurrence_hints", list(payload, "recurrence_hints"));
    set("links", list(payload, "links"));
    let hypothesis = text_of(payload, "human_hypothesis").map(redact::text);
    set("human_hypothesis", hypothesis.into());
    let metadata = match payload.get("metadata") {
        Some(Value::Dict(metadata)) => redact::dict(metadata),
        _ => Dict::default(),
    };
    set("metadata", metadata.into());
    set("id", given_or(payload, "id", || new_id(context)));
    let now = || iso8601(context.now());
    set("timestamp", given_or(payload, "timestamp", now));
    Ok(event)
}

fn kind(payload: &Dict) -> Result<&str, Failure> {
    let Some(kind) = text_of(payload, "kind") else {
        return Err(Fault::runtime("friction_event: missing kind"));
    };
    if !KINDS.contains(&kind) {
        let expected = KINDS.join(", ");
        return Err(Fault::runtime(format!(
            "friction_event: unsupported kind '{kind}' (expected one of {expected})"
        )));
    }
    Ok(kind)
}

fn list(payload: &Dict, key: &str) -> Value {
    match payload.get(key) {
        Some(Value::List(items)) => items.clone().into(),
        None | Some(Value::Nil) => Value::list(Vec::new()),
        Some(one) => Value::list(vec![one.clone()]),
    }
}

fn given_or(payload: &Dict, key: &str, new: impl FnOnce() -> String) -> Value {
    match text_of(payload, key) {
        Some(text) => text.into(),
        None => new().into(),
    }
}

fn new_id(context: &mut Context<'_>) -> String {
    format!("friction_{}", new_uuid(context))
}

/// An id that nobody else has.
pub(super) fn new_uuid(context: &mut Context<'_>) -> String {
    let random = match context.perform(&Request::Random(16)) {
        Answer::Octets(octets) => octets.try_into().unwrap_or_default(),
        _ => [0; 16],
    };
    uuid_of_time(context.now(), random)
}
