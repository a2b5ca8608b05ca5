//! What older and newer writers did differently, one rule each.
//!
//! Three published versions of the enum are in the field, and logs of all of
//! them are read for ever. A rule looks at a parsed object, brings it into
//! today's shape and says that it did; the record then keeps its original text,
//! so that copying a log never rewrites history.

use serde_json::{Map, Value};

use crate::event::AgentEvent;
use crate::shape;
use crate::{
    CompositionFailureCategory, SideEffectLevel, ToolCallErrorCategory, ToolKind, WorkerEvent,
    WorkerStatus,
};

type Object = Map<String, Value>;

/// How a record differed from what today's writer would have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Adaptation {
    /// The record has a tag of version 1 or 2, kept here.
    LegacyTag(&'static str),
    /// This numeric field was `null` and reads as 0.
    NullAsZero(&'static str),
    /// `transcript_compacted` had no `reason`; it reads as the empty string.
    MissingReason,
    /// `transcript_compacted` carried its fields inside a receipt.
    FieldsFromReceipt,
    /// A promoted candidate carried its arguments as output.
    ArgumentsFromOutput,
    /// `worker_update.event` was derived from the status.
    EventFromStatus,
    /// `worker_update.status` was an alias.
    StatusAlias,
    /// The value at this JSON pointer is newer than this reader and reads as the fallback.
    UnknownValue(&'static str),
    /// So many keys are newer than this reader.
    UnknownKeys(u32),
    /// A record inside the event was written differently: it has keys that are
    /// newer than this reader, or lacks some that are newer than its writer.
    NestedKeys,
}

/// Brings an object of any version into today's shape.
pub(crate) fn adapt(object: &mut Object) -> Vec<Adaptation> {
    let mut adaptations: Vec<Adaptation> = adapt_legacy_tags(object).into_iter().collect();
    match object.get("type").and_then(Value::as_str) {
        Some("transcript_compacted") => adapt_compaction(object, &mut adaptations),
        Some("tool_call_update") => adaptations.extend(adapt_promotion(object)),
        Some("worker_update") => adapt_worker(object, &mut adaptations),
        _ => {}
    }
    adapt_null_numbers(object, &mut adaptations);
    note_unknown_values(object, &mut adaptations);
    adaptations
}

/// `turn_start` and `turn_end` became `iteration_start` and `iteration_end`.
pub(crate) fn adapt_legacy_tags(object: &mut Object) -> Option<Adaptation> {
    let (legacy, current) = match object.get("type")?.as_str()? {
        "turn_start" => ("turn_start", "iteration_start"),
        "turn_end" => ("turn_end", "iteration_end"),
        _ => return None,
    };
    object.insert("type".to_owned(), current.into());
    if let Some(info) = object.remove("turn_info") {
        object.entry("iteration_info").or_insert(info);
    }
    Some(Adaptation::LegacyTag(legacy))
}

/// Versions 1 and 2 gave no reason; later writers wrap the whole body in a receipt.
fn adapt_compaction(object: &mut Object, adaptations: &mut Vec<Adaptation>) {
    if !object.contains_key("mode")
        && let Some(Value::Object(receipt)) = object.get("receipt").cloned()
        && let Some(variant) = shape::variant("transcript_compacted")
    {
        for field in variant.fields {
            if let Some(value) = receipt.get(field.name) {
                object.entry(field.name).or_insert_with(|| value.clone());
            }
        }
        adaptations.push(Adaptation::FieldsFromReceipt);
    }
    if !object.contains_key("reason") {
        object.insert("reason".to_owned(), "".into());
        adaptations.push(Adaptation::MissingReason);
    }
}

/// A promoted candidate of older logs has its arguments in `raw_output`.
fn adapt_promotion(object: &mut Object) -> Option<Adaptation> {
    let is_promotion = object.get("parsing") == Some(&Value::Bool(false))
        && object.get("status").and_then(Value::as_str) == Some("pending");
    let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    if !is_promotion || has("raw_input") || !has("raw_output") {
        return None;
    }
    let arguments = object.remove("raw_output")?;
    object.insert("raw_input".to_owned(), arguments);
    Some(Adaptation::ArgumentsFromOutput)
}

/// A missing or newer `event` follows from a status we know.
fn adapt_worker(object: &mut Object, adaptations: &mut Vec<Adaptation>) {
    let Some(written) = object.get("status").and_then(Value::as_str) else {
        return;
    };
    let Some(status) = WorkerStatus::from_status(written) else {
        return;
    };
    if written != status.as_str() {
        object.insert("status".to_owned(), status.as_str().into());
        adaptations.push(Adaptation::StatusAlias);
    }
    let known = object
        .get("event")
        .and_then(Value::as_str)
        .and_then(WorkerEvent::from_wire);
    if known.is_none() {
        object.insert(
            "event".to_owned(),
            WorkerEvent::from_status(status).as_str().into(),
        );
        adaptations.push(Adaptation::EventFromStatus);
    }
}

/// A number that JSON cannot hold was written as `null` by older writers.
fn adapt_null_numbers(object: &mut Object, adaptations: &mut Vec<Adaptation>) {
    let tag = object
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some(variant) = shape::variant(tag) else {
        return;
    };
    for field in variant.fields.iter().filter(|field| field.is_number()) {
        if let Some(value @ Value::Null) = object.get_mut(field.name) {
            *value = Value::from(0);
            adaptations.push(Adaptation::NullAsZero(field.name));
        }
    }
}

/// A place where an enum with a fallback may hold a value of the future.
struct EnumPlace {
    pointer: &'static str,
    is_known: fn(&str) -> bool,
}

const fn place(pointer: &'static str, is_known: fn(&str) -> bool) -> EnumPlace {
    EnumPlace { pointer, is_known }
}

fn is_kind(text: &str) -> bool {
    ToolKind::from_wire(text).is_some()
}

fn is_level(text: &str) -> bool {
    SideEffectLevel::from_wire(text).is_some()
}

fn is_category(text: &str) -> bool {
    ToolCallErrorCategory::from_wire(text).is_some()
}

fn is_failure(text: &str) -> bool {
    CompositionFailureCategory::from_wire(text).is_some()
}

fn enum_places(tag: &str) -> &'static [EnumPlace] {
    const RUN: &[EnumPlace] = &[
        place("/run/failure_category", is_failure),
        place("/run/requested_side_effect_ceiling", is_level),
    ];
    match tag {
        "tool_call" => const { &[place("/kind", is_kind)] },
        "tool_call_update" => const { &[place("/error_category", is_category)] },
        "composition_start" | "composition_finish" | "composition_error" => RUN,
        "composition_child_call" => {
            const {
                &[
                    place("/call/annotations/kind", is_kind),
                    place("/call/annotations/side_effect_level", is_level),
                    place("/call/requested_side_effect_level", is_level),
                ]
            }
        }
        "composition_child_result" => const { &[place("/result/error_category", is_category)] },
        _ => &[],
    }
}

fn note_unknown_values(object: &Object, adaptations: &mut Vec<Adaptation>) {
    let tag = object
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    for place in enum_places(tag) {
        let value = pointer(object, place.pointer);
        if value
            .and_then(Value::as_str)
            .is_some_and(|text| !(place.is_known)(text))
        {
            adaptations.push(Adaptation::UnknownValue(place.pointer));
        }
    }
}

fn pointer<'a>(object: &'a Object, pointer: &str) -> Option<&'a Value> {
    let mut keys = pointer.split('/').skip(1);
    let first = object.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// Whether an event that decoded without trouble may still need one of the rules
/// above: its shape is one that older writers used differently, or a fallback
/// value in it may stand for one we do not know.
pub(crate) fn needs_a_second_look(event: &AgentEvent) -> bool {
    match event {
        _ if has_nested_records(event) => true,
        AgentEvent::ToolCall { kind, .. } => *kind == Some(ToolKind::default()),
        AgentEvent::ToolCallUpdate {
            error_category,
            parsing: Some(false),
            raw_input: None,
            raw_output,
            ..
        } => raw_output.is_some() || *error_category == Some(ToolCallErrorCategory::default()),
        AgentEvent::ToolCallUpdate { error_category, .. } => {
            *error_category == Some(ToolCallErrorCategory::default())
        }
        AgentEvent::WorkerUpdate { event, status, .. } => event.as_status() != status,
        _ => !enum_places(event.tag()).is_empty(),
    }
}

/// Whether the event carries records with keys of their own, which may be of
/// another version than the event.
pub(crate) fn has_nested_records(event: &AgentEvent) -> bool {
    match event {
        AgentEvent::ToolCall { audit, .. } | AgentEvent::ToolCallUpdate { audit, .. } => {
            audit.is_some()
        }
        AgentEvent::Handoff { .. }
        | AgentEvent::FsWatch { .. }
        | AgentEvent::CompositionStart { .. }
        | AgentEvent::CompositionChildCall { .. }
        | AgentEvent::CompositionChildResult { .. }
        | AgentEvent::CompositionFinish { .. }
        | AgentEvent::CompositionError { .. } => true,
        _ => false,
    }
}
