//! The modules that come with the language.
//!
//! They are Harn like any other module, and known by the path `<stdlib>/NAME.harn`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where they are said to be.
const DIRECTORY: &str = "<stdlib>";

macro_rules! modules {
    ($($name:literal)*) => {
        /// Name and text of each, sorted by name.
        const MODULES: &[(&str, &str)] = &[$(
            ($name, include_str!(concat!("../../std/", $name, ".harn"))),
        )*];
    };
}

modules! {
    "acp"
    "agent_state"
    "agents"
    "async"
    "checkpoint"
    "collections"
    "connectors/github"
    "connectors/linear"
    "connectors/notion"
    "connectors/slack"
    "context"
    "experiments"
    "graphql"
    "hitl"
    "host"
    "json"
    "math"
    "memory"
    "monitors"
    "path"
    "plan"
    "postgres"
    "project"
    "prompt_library"
    "review"
    "runtime"
    "schema"
    "testing"
    "text"
    "triggers"
    "vision"
    "waitpoint"
    "waitpoints"
    "worktree"
}

/// The names of all built-in modules, as in `std/NAME`, sorted.
pub fn standard_modules() -> impl ExactSizeIterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}

/// The text of the built-in module `std/NAME`, if there is one.
pub fn standard_text(name: &str) -> Option<&'static str> {
    text(name)
}

/// The path of the module of a name.
pub(super) fn path(name: &str) -> Option<Arc<Path>> {
    text(name)?;
    let path = PathBuf::from(format!("{DIRECTORY}/{name}.harn"));
    Some(path.into())
}

/// Whether a path is the one of a built-in module.
pub(super) fn is_standard(path: &Path) -> bool {
    path.starts_with(DIRECTORY)
}

/// The text of a built-in module.
pub(super) fn read(path: &Path) -> io::Result<Arc<str>> {
    let name = path.strip_prefix(DIRECTORY).ok();
    let name = name.and_then(Path::to_str);
    let name = name.and_then(|name| name.strip_suffix(".harn"));
    let text = name.and_then(text).ok_or(io::ErrorKind::NotFound)?;
    Ok(Arc::from(text))
}

fn text(name: &str) -> Option<&'static str> {
    let at = MODULES.binary_search_by_key(&name, |(name, _)| name);
    at.ok().map(|at| MODULES[at].1)
}
