//! The builtins that need nothing but their arguments.

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::make::{Call, make};
use super::record::shown;
use super::select::{ContextPolicy, select, select_adaptive};
use super::{Artifact, Making, artifact_context};
use crate::handoff;

/// What a builtin about artifacts gives; `None` if it is none of them.
pub(crate) fn answer(
    builtin: &str,
    arguments: &[Value],
    making: &Making<'_>,
) -> Option<Result<Value, Thrown>> {
    let call = Call {
        builtin,
        arguments,
        making,
    };
    if let Some(made) = make(&call) {
        return Some(made.map(|artifact| artifact.to_json()));
    }
    Some(match builtin {
        "artifact" => artifact(&call),
        "artifact_derive" => derive(&call),
        "artifact_select" => selected(&call, select),
        "select_artifacts_adaptive" => selected(&call, select_adaptive),
        "artifact_context" => list(&call).map(|artifacts| {
            let policy = ContextPolicy::read(call.argument(1));
            artifact_context(artifacts, &policy).into()
        }),
        _ => return None,
    })
}

/// `artifact(dict)`. What says that it is a handoff must be one.
fn artifact(call: &Call<'_>) -> Result<Value, Thrown> {
    let missing = || Thrown::Runtime("artifact: missing artifact payload".to_owned());
    let artifact = Artifact::read(call.argument(0), call.making).ok_or_else(missing)?;
    match artifact.kind.as_str() {
        "handoff" => handoff::as_artifact(artifact, call.making).map(|made| made.to_json()),
        _ => Ok(artifact.to_json()),
    }
}

/// `artifact_derive(parent, kind = "artifact", {text}?)`
fn derive(call: &Call<'_>) -> Result<Value, Thrown> {
    let parent = call.artifact(0, "parent")?;
    let kind = call.argument(1).as_str().unwrap_or_default();
    let options = call.options(call.argument(2))?;
    let text = options.get("text").and_then(shown);
    Ok(parent.derived(kind, text, call.making).to_json())
}

fn selected(
    call: &Call<'_>,
    select: fn(Vec<Artifact>, &ContextPolicy) -> Vec<Artifact>,
) -> Result<Value, Thrown> {
    let policy = ContextPolicy::read(call.argument(1));
    let selected = select(list(call)?, &policy);
    Ok(selected.iter().map(Artifact::to_json).collect())
}

/// A list of artifacts; nil is an empty one.
fn list(call: &Call<'_>) -> Result<Vec<Artifact>, Thrown> {
    let wrong = || Thrown::Runtime("expected artifact list or nil".to_owned());
    let items = match call.argument(0) {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items,
        _ => return Err(wrong()),
    };
    let read = |item: &Value| Artifact::read(item, call.making).ok_or_else(wrong);
    items.iter().map(read).collect()
}
