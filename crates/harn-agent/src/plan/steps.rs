//! The steps of a plan.

use serde_json::{Value, json};

use super::{Written, first, text};

/// The steps that a model wrote, under whatever name.
pub(super) fn read(written: &Written<'_>) -> Vec<Value> {
    let items = match written.source {
        Value::Array(items) => Some(items),
        _ => written
            .value(&["steps", "plan", "tasks"])
            .and_then(Value::as_array),
    };
    let numbered = items.into_iter().flatten().zip(1..);
    numbered
        .filter_map(|(item, number)| step(item, number))
        .collect()
}

/// A step as hosts show it.
pub(super) fn entry(step: &Value) -> Value {
    let mut entry = json!({"content": step["content"], "status": step["status"]});
    if !step["priority"].is_null() {
        entry["priority"] = step["priority"].clone();
    }
    entry
}

/// The entries of a report about progress, as hosts show them.
pub(super) fn entries(written: &Value) -> Vec<Value> {
    let items = written.as_array().into_iter().flatten().zip(1..);
    let steps = items.filter_map(|(item, number)| step(item, number));
    steps.map(|step| entry(&step)).collect()
}

/// One step; one without content is none.
fn step(item: &Value, number: usize) -> Option<Value> {
    let content = match item {
        Value::String(content) => Some(content.trim().to_owned()).filter(|text| !text.is_empty()),
        _ => text(item, &["content", "step", "task", "goal", "description"]),
    };
    let status = text(item, &["status"]).unwrap_or_default();
    Some(json!({
        "id": text(item, &["id"]).unwrap_or_else(|| format!("step-{number}")),
        "content": content?,
        "status": normal_status(&status),
        "priority": first(item, &["priority"]),
    }))
}

/// The one name of a status that models have many names for.
fn normal_status(written: &str) -> &'static str {
    let written = written.to_ascii_lowercase().replace(['-', ' '], "_");
    match &*written {
        "in_progress" | "active" | "running" | "started" => "in_progress",
        "completed" | "complete" | "done" => "completed",
        "blocked" | "waiting" => "blocked",
        "cancelled" | "canceled" | "dropped" | "skipped" => "cancelled",
        _ => "pending",
    }
}
