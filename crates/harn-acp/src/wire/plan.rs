//! Plans, as editors show them.

use agent_client_protocol::v1::schema::{Meta, PlanEntry, PlanEntryPriority, PlanEntryStatus};
use harn_vm::agent::{PLAN_SCHEMA_VERSION, plan_entries};
use serde_json::{Map, Value, json};

/// The entries of a plan. One of ours has steps; what a host or a program made up is taken as a
/// list of entries.
pub(super) fn entries_of_plan(plan: &Value) -> Vec<PlanEntry> {
    let entries = match (is_ours(plan), plan.get("entries"), plan) {
        (true, ..) => plan_entries(plan),
        (false, Some(entries), _) => entries.clone(),
        (false, None, Value::Array(entries)) => json!(entries),
        (false, None, other) => plan_entries(other),
    };
    entries_of(&entries)
}

/// Whether a plan has the shape that we give plans.
pub(super) fn is_ours(plan: &Value) -> bool {
    plan["schema_version"] == PLAN_SCHEMA_VERSION
}

/// The entries of a list. What has no text is none.
pub(super) fn entries_of(entries: &Value) -> Vec<PlanEntry> {
    let entries = entries.as_array().into_iter().flatten();
    entries.filter_map(entry).collect()
}

/// One entry. What an editor would not understand is told in words, and kept beside them.
fn entry(written: &Value) -> Option<PlanEntry> {
    let content = match written {
        Value::String(content) => content,
        _ => written["content"].as_str()?,
    };
    let content = Some(content).filter(|content| !content.trim().is_empty())?;
    let (status, priority) = (&written["status"], &written["priority"]);
    let mut originals = Map::new();
    let mut content = content.to_owned();
    let status = known_status(status).unwrap_or_else(|| {
        originals.insert("originalStatus".to_owned(), status.clone());
        content = format!("[{}] {content}", in_words(status));
        PlanEntryStatus::Pending
    });
    let priority = known_priority(priority).unwrap_or_else(|| {
        originals.insert("originalPriority".to_owned(), priority.clone());
        PlanEntryPriority::Medium
    });
    let entry = PlanEntry::new(content, priority, status);
    Some(match originals.is_empty() {
        true => entry,
        false => entry.meta(Meta::from_iter([(
            "harn".to_owned(),
            Value::Object(originals),
        )])),
    })
}

fn known_status(status: &Value) -> Option<PlanEntryStatus> {
    match status.as_str() {
        None if status.is_null() => Some(PlanEntryStatus::Pending),
        Some("pending") => Some(PlanEntryStatus::Pending),
        Some("in_progress") => Some(PlanEntryStatus::InProgress),
        Some("completed") => Some(PlanEntryStatus::Completed),
        _ => None,
    }
}

fn known_priority(priority: &Value) -> Option<PlanEntryPriority> {
    match priority.as_str() {
        None if priority.is_null() => Some(PlanEntryPriority::Medium),
        Some("high") => Some(PlanEntryPriority::High),
        Some("medium") => Some(PlanEntryPriority::Medium),
        Some("low") => Some(PlanEntryPriority::Low),
        _ => None,
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
