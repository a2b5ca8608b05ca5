//! The artifacts of a worker: what it is given and what it makes.

use serde_json::{Value, json};

use crate::artifacts::{self, Artifact, ContextPolicy, Making};
use crate::moment::rfc3339;
use crate::runtime::Runtime;

/// A text that a stage has made, as an artifact.
pub(crate) fn record(runtime: &Runtime, kind: &str, title: &str, text: &str, stage: &str) -> Value {
    let payload = json!({
        "kind": kind,
        "title": title,
        "text": text,
        "source": "stage",
        "freshness": "fresh",
        "stage": stage,
    });
    let made = read(runtime, &[payload]);
    made.iter()
        .map(Artifact::to_json)
        .next()
        .unwrap_or_default()
}

/// Those of some artifacts that a context policy lets through.
pub(crate) fn select(runtime: &Runtime, artifacts: &[Value], policy: &Value) -> Vec<Value> {
    let policy = ContextPolicy::read(policy);
    let selected = artifacts::select(read(runtime, artifacts), &policy);
    selected.iter().map(Artifact::to_json).collect()
}

/// The same as a model reads them.
pub(crate) fn render(runtime: &Runtime, artifacts: &[Value], policy: &Value) -> String {
    let policy = ContextPolicy::read(policy);
    artifacts::artifact_context(read(runtime, artifacts), &policy)
}

fn read(runtime: &Runtime, artifacts: &[Value]) -> Vec<Artifact> {
    let now = rfc3339(runtime.now_ms());
    let making = Making {
        now: &now,
        new_id: &|| runtime.new_id(),
    };
    let read = artifacts.iter();
    read.filter_map(|artifact| Artifact::read(artifact, &making))
        .collect()
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
