//! Where paths start.

use std::path::{Path, PathBuf};

use harn_machine::{Answer, Context, FileRequest, Request};

use crate::surroundings;

/// The execution root, once it is known.
#[derive(Default)]
struct Root(Option<PathBuf>);

/// The folder that relative paths start at: that of the worker that the task is a part of, else
/// that of the program.
pub(crate) fn execution_root(context: &mut Context<'_>) -> PathBuf {
    let root = program_root(context);
    match surroundings::folder(context) {
        Some(folder) => root.join(folder),
        None => root,
    }
}

/// The folder that the program works in.
pub(crate) fn program_root(context: &mut Context<'_>) -> PathBuf {
    if let Some(root) = &context.state::<Root>().0 {
        return root.clone();
    }
    let here = Request::OwnFile(FileRequest::Canonical(PathBuf::from(".")));
    let root = match context.perform(&here) {
        Answer::Text(Some(root)) => PathBuf::from(root),
        _ => PathBuf::from("/"),
    };
    context.state::<Root>().0 = Some(root.clone());
    root
}

/// A path as a program writes it, made absolute.
pub fn resolve(context: &mut Context<'_>, path: &str) -> PathBuf {
    execution_root(context).join(path)
}

/// The folder of the source file whose code calls.
pub(crate) fn source_folder(context: &mut Context<'_>) -> PathBuf {
    let folder = context.source_folder().map(Path::to_owned);
    let root = execution_root(context);
    match folder {
        Some(folder) => cleaned(&root.join(folder)),
        None => root,
    }
}

/// The nearest folder around a place, itself included, that holds a `harn.toml`.
pub(crate) fn project_around(context: &mut Context<'_>, place: &Path) -> Option<PathBuf> {
    let mut folders = place.ancestors();
    let found = folders.find(|folder| {
        // Where a project begins is no secret of the folders that a policy leaves out.
        let manifest = Request::OwnFile(FileRequest::Status(folder.join("harn.toml")));
        matches!(context.perform(&manifest), Answer::Status(Some(_)))
    });
    found.map(Path::to_owned)
}

/// A path without `.` in it.
fn cleaned(path: &Path) -> PathBuf {
    path.components().collect()
}
