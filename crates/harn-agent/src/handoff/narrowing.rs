//! What a handoff lets its receiver do: never more than its sender may do.
//!
//! A handoff may carry a policy for the receiver. Nobody knows when and where it will be read,
//! so it is settled where it is made: what is carried is what both the sender's policy and the
//! one of the handoff allow. A handoff that asks for more is none.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::policy::CapabilityPolicy;
use crate::real_path::resolve;

/// A handoff asks for more than its sender has, or for something that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BeyondSender(String);

/// The policy of a receiver: what the sender may do and what the handoff leaves of that.
/// Relative folders start at `folder`.
///
/// # Errors
/// The handoff asks for more, or what it asks for is not understood.
pub fn narrowed(
    sender: Option<&CapabilityPolicy>,
    asked: &Value,
    folder: &Path,
) -> Result<CapabilityPolicy, BeyondSender> {
    let asked = CapabilityPolicy::read("policy_override", asked)
        .map_err(|thrown| BeyondSender(thrown.to_string()))?;
    let Some(sender) = sender else {
        return Ok(asked);
    };
    check_roots(&sender.workspace_roots, &asked.workspace_roots, folder)?;
    let both = CapabilityPolicy::intersect(sender, &asked).map_err(BeyondSender)?;
    // What a policy says about a tool counts before what the tool says about itself. Said by a
    // handoff it could make a dangerous tool look harmless.
    Ok(CapabilityPolicy {
        tool_annotations: sender.tool_annotations.clone(),
        ..both
    })
}

/// Folders of the receiver are within those of the sender.
fn check_roots(sender: &[String], asked: &[String], folder: &Path) -> Result<(), BeyondSender> {
    if sender.is_empty() {
        return Ok(());
    }
    let real = |root: &String| resolve(&absolute(folder, root)).map(|real| real.path);
    let outer: Vec<PathBuf> = sender.iter().filter_map(real).collect();
    let is_within = |root: &String| {
        real(root).is_some_and(|root| outer.iter().any(|outer| root.starts_with(outer)))
    };
    match asked.iter().find(|root| !is_within(root)) {
        None => Ok(()),
        Some(root) => Err(BeyondSender(format!(
            "requested workspace root exceeds host ceiling: {root}"
        ))),
    }
}

fn absolute(folder: &Path, path: &str) -> PathBuf {
    let path = folder.join(path);
    std::path::absolute(&path).unwrap_or(path)
}
