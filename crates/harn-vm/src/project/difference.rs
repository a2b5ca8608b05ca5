//! What has changed since the operator last answered.

use std::collections::BTreeSet;

use super::contents::{Contents, Part};
use super::store::Answer;

/// A part that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added(Part),
    /// It says something else; this is what it was before.
    Changed(Part, String),
    /// It is gone: its name, and what it was.
    Removed(String, String),
}

/// What has changed, in the order of the parts.
pub fn difference(before: &Answer, now: &Contents) -> Vec<Change> {
    let known = |name: &str| before.parts.iter().find(|part| part.name == name);
    let present = now.parts.iter().filter_map(|part| match known(&part.name) {
        None => Some(Change::Added(part.clone())),
        Some(old) if old.digest != part.digest => {
            Some(Change::Changed(part.clone(), old.detail.clone()))
        }
        Some(_) => None,
    });
    let names: BTreeSet<&str> = now.parts.iter().map(|part| part.name.as_str()).collect();
    let gone = before.parts.iter();
    let gone = gone.filter(|part| !names.contains(part.name.as_str()));
    let gone = gone.map(|part| Change::Removed(part.name.clone(), part.detail.clone()));
    present.chain(gone).collect()
}
