//! `project_fingerprint`: one look at a whole tree.
//!
//! ```text
//! names of files and folders ─┐
//! package.json, Cargo.toml … ─┴─► Signals ─► what follows from them ─► in the order of the lists
//! ```

mod conclude;
mod files;
mod package_json;
mod signals;

use std::path::{Path, PathBuf};

use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use self::signals::Signals;
use super::folder::{entries, start, version_control};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("project_fingerprint", project_fingerprint)]);
}

/// How deep below the root is looked.
const DEPTH_MAX: usize = 4;

/// Folders that hold what was made or fetched, and not what was written.
const NOT_ENTERED: [&str; 12] = [
    ".git",
    ".hg",
    ".next",
    ".svn",
    ".venv",
    "__pycache__",
    "build",
    "coverage",
    "dist",
    "node_modules",
    "target",
    "venv",
];

/// `project_fingerprint(path = ".")`
fn project_fingerprint(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    if arguments.len() > 1 {
        return thrown("project_fingerprint: expected at most 1 argument");
    }
    let root = start(context, "project.scan", argument(arguments, 0))?;
    let mut signals = Signals::default();
    look(context, &root, &mut signals);
    let vcs = version_control(context, &root);
    Ok(conclude::concluded(signals, vcs))
}

/// Gathers the signals of a tree.
fn look(context: &mut Context<'_>, root: &Path, signals: &mut Signals) {
    let mut folders: Vec<(PathBuf, String, usize)> = vec![(root.to_owned(), String::new(), 1)];
    while let Some((folder, inside, depth)) = folders.pop() {
        let mut deeper = Vec::new();
        for entry in entries(context, &folder) {
            let path = match inside.is_empty() {
                true => entry.name.clone(),
                false => format!("{inside}/{}", entry.name),
            };
            let place = folder.join(&entry.name);
            if !entry.is_folder {
                files::file(context, &place, &path, &entry.name, signals);
            } else if !NOT_ENTERED.contains(&entry.name.as_str()) {
                files::folder(&path, &entry.name, signals);
                if depth < DEPTH_MAX {
                    deeper.push((place, path, depth + 1));
                }
            }
        }
        folders.extend(deeper.into_iter().rev());
    }
}
