//! The artifacts of a worker: what it is given and what it makes.

use harn_llm::options::value::display;
use serde_json::{Value, json};

use crate::moment::rfc3339;
use crate::runtime::Runtime;

/// The priority of an artifact whose kind says nothing about it.
const PRIORITY: u64 = 40;

/// A text that a stage has made, as an artifact.
pub(crate) fn record(runtime: &Runtime, kind: &str, title: &str, text: &str, stage: &str) -> Value {
    json!({
        "_type": "artifact",
        "id": format!("artifact_{}", runtime.new_id()),
        "kind": kind,
        "title": title,
        "text": text,
        "data": null,
        "source": "stage",
        "created_at": rfc3339(runtime.now_ms()),
        "freshness": "fresh",
        "priority": PRIORITY,
        "lineage": [],
        "relevance": null,
        "estimated_tokens": text.len().div_ceil(4),
        "stage": stage,
        "metadata": {},
    })
}

/// Those of some artifacts that a context policy lets through, in their order.
pub(crate) fn select<'a>(artifacts: &'a [Value], policy: &Value) -> Vec<&'a Value> {
    let names = |key: &str| policy[key].as_array().cloned().unwrap_or_default();
    let (kinds, no_kinds, stages) = (
        names("include_kinds"),
        names("exclude_kinds"),
        names("include_stages"),
    );
    let is_wanted = |artifact: &&Value| {
        (kinds.is_empty() || kinds.contains(&artifact["kind"]))
            && !no_kinds.contains(&artifact["kind"])
            && (stages.is_empty() || stages.contains(&artifact["stage"]))
    };
    let most = policy["max_artifacts"].as_u64();
    let most = most.and_then(|most| usize::try_from(most).ok());
    let wanted = artifacts.iter().filter(is_wanted);
    wanted.take(most.unwrap_or(usize::MAX)).collect()
}

/// Those of two lists, each once by its id.
pub(crate) fn joined(first: &[Value], second: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = first.to_vec();
    for artifact in second {
        let is_same = |known: &Value| !artifact["id"].is_null() && known["id"] == artifact["id"];
        if !all.iter().any(is_same) {
            all.push(artifact.clone());
        }
    }
    all
}

/// Artifacts as a model reads them.
pub(crate) fn render(artifacts: &[&Value]) -> String {
    let shown = artifacts.iter().map(|artifact| render_one(artifact));
    shown.collect::<Vec<String>>().join("\n\n")
}

fn render_one(artifact: &Value) -> String {
    let text = |key: &str, usual: &str| match &artifact[key] {
        Value::Null => usual.to_owned(),
        value => display(value),
    };
    let kind = text("kind", "artifact");
    let title = text("title", &format!("{kind} {}", text("id", "")));
    let header = [
        ("title", title),
        ("kind", kind),
        ("source", text("source", "unknown")),
        ("freshness", text("freshness", "normal")),
        ("priority", text("priority", "40")),
    ];
    let header = header.map(|(tag, value)| format!("<{tag}>{}</{tag}>", escaped(&value)));
    let body = match artifact["text"].as_str() {
        Some(text) => text.to_owned(),
        None => artifact["data"].to_string(),
    };
    format!(
        "<artifact>\n{}\n<body>\n{body}\n</body>\n</artifact>",
        header.join("\n")
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_policy_lets_some_through() {
        let all = [
            json!({"id": "a", "kind": "summary", "stage": "one"}),
            json!({"id": "b", "kind": "plan", "stage": "two"}),
            json!({"id": "c", "kind": "plan", "stage": "one"}),
        ];
        let ids = |policy: Value| {
            let selected = select(&all, &policy).into_iter();
            selected
                .map(|artifact| artifact["id"].clone())
                .collect::<Value>()
        };
        assert_eq!(ids(json!(null)), json!(["a", "b", "c"]));
        assert_eq!(ids(json!({"include_kinds": ["plan"]})), json!(["b", "c"]));
        assert_eq!(ids(json!({"exclude_kinds": ["plan"]})), json!(["a"]));
        assert_eq!(ids(json!({"include_stages": ["one"]})), json!(["a", "c"]));
        assert_eq!(ids(json!({"max_artifacts": 1})), json!(["a"]));
    }

    #[test]
    fn artifacts_are_shown_with_their_header_escaped() {
        let artifact = json!({"id": "a", "kind": "plan", "title": "<x>", "text": "<y>"});
        let shown = render(&[&artifact]);
        assert!(shown.contains("<title>&lt;x&gt;</title>"));
        assert!(shown.contains("<body>\n<y>\n</body>"));
        assert!(shown.contains("<source>unknown</source>"));
    }
}
