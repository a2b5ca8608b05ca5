//! Handoffs: what is said when work goes to somebody else.
//!
//! ```text
//! dict, artifact, agent state ──► record ──► context: text for a model
//!                                    │  └──► artifact ──► event `handoff`
//!                                    └─ narrowing: never more than the sender may do
//! ```
//!
//! A handoff is a document. Who reads it and when is decided by whoever receives it, so
//! everything that limits the receiver is settled when the document is made.

mod context;
mod narrowing;
mod record;
#[cfg(test)]
mod tests;

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

pub use context::handoff_context;
pub use narrowing::{BeyondSender, narrowed};
pub use record::Handoff;

use crate::artifacts::{Artifact, Making};

/// An artifact of the kind `handoff`, with everything that follows from its data.
pub(crate) fn as_artifact(mut artifact: Artifact, making: &Making<'_>) -> Result<Artifact, Thrown> {
    let handoff = Handoff::read(&artifact.data, making).ok_or_else(invalid_data)?;
    let text = handoff_context(&handoff);
    let label = handoff.target.name();
    artifact.title = Some(format!("Handoff to {label}"));
    for (key, value) in [
        ("handoff_id", &*handoff.id),
        ("target_kind", handoff.target.kind),
        ("target_label", label),
    ] {
        artifact.metadata.insert(key.to_owned(), json!(value));
    }
    artifact.set_text(text);
    artifact.data = handoff.to_json();
    Ok(artifact)
}

/// What a builtin about handoffs gives; `None` if it is none of them.
pub(crate) fn answer(
    builtin: &str,
    payload: &Value,
    making: &Making<'_>,
) -> Option<Result<Value, Thrown>> {
    let read = || Handoff::read(payload, making).ok_or_else(|| invalid(builtin));
    Some(match builtin {
        "handoff" => read().map(|handoff| handoff.to_json()),
        "handoff_context" => read().map(|handoff| handoff_context(&handoff).into()),
        _ => return None,
    })
}

/// What is thrown where a builtin was given no handoff.
pub(crate) fn invalid(builtin: &str) -> Thrown {
    Thrown::Runtime(format!("{builtin}: invalid handoff payload"))
}

/// What is thrown where an artifact says that it is a handoff and is none.
pub(crate) fn invalid_data() -> Thrown {
    let problem = "artifact handoff data must contain a valid handoff payload";
    Thrown::Runtime(problem.to_owned())
}
