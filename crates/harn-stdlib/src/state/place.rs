//! Where a program keeps things between runs.

use std::path::{Path, PathBuf};

use harn_machine::{Answer, Context, Request};

use crate::files::root::{execution_root, program_root, project_around};
use crate::files::status;

/// The places of a run, once they are known.
#[derive(Default)]
struct Places {
    base: Option<PathBuf>,
    state: Option<PathBuf>,
}

/// The project, or else the folder of the script. It does not depend on which file asks: a
/// function of a module finds what the script that imports it has kept.
pub(super) fn base(context: &mut Context<'_>) -> PathBuf {
    if let Some(base) = &context.state::<Places>().base {
        return base.clone();
    }
    let root = program_root(context);
    let script = context.entrance().folder.clone();
    let script = script.map(|folder| root.join(folder));
    let base = project_around(context, &root);
    let base = base.or_else(|| project_around(context, script.as_deref()?));
    let base = base.or(script).unwrap_or(root);
    context.state::<Places>().base = Some(base.clone());
    base
}

/// The folder that a note is about: below the base, or else where the program runs, which is
/// where the functions for files make and find a folder of that name.
pub(super) fn noted_folder(context: &mut Context<'_>, name: &str) -> PathBuf {
    let noted = base(context).join(name);
    let here = execution_root(context).join(name);
    match !is_folder(context, &noted) && is_folder(context, &here) {
        true => here,
        false => noted,
    }
}

/// The folder that a program looks into: where it runs, as for all files, or else below the base,
/// where its notes are.
pub(super) fn scanned_folder(context: &mut Context<'_>, name: &str) -> PathBuf {
    let here = execution_root(context).join(name);
    let noted = base(context).join(name);
    match !is_folder(context, &here) && is_folder(context, &noted) {
        true => noted,
        false => here,
    }
}

pub(super) fn is_folder(context: &mut Context<'_>, path: &Path) -> bool {
    status(context, path.to_owned()).is_some_and(|facts| facts.is_folder)
}

/// The folder for what is kept.
pub(crate) fn state_root(context: &mut Context<'_>) -> PathBuf {
    if let Some(state) = &context.state::<Places>().state {
        return state.clone();
    }
    let wanted = match context.perform(&Request::Environment("HARN_STATE_DIR".to_owned())) {
        Answer::Text(Some(folder)) if !folder.is_empty() => folder,
        _ => ".harn".to_owned(),
    };
    let state = base(context).join(wanted);
    context.state::<Places>().state = Some(state.clone());
    state
}

/// Where workers are kept, and where they work if nobody says.
pub struct WorkerFolders {
    /// One file per worker.
    pub state: PathBuf,
    /// Their worktrees.
    pub worktrees: PathBuf,
}

/// Where the workers of a program are kept, and where they work if nobody says.
pub fn worker_folders(context: &mut Context<'_>) -> WorkerFolders {
    let own = wanted(context, "HARN_WORKER_STATE_DIR");
    let worktrees = wanted(context, "HARN_WORKTREE_DIR");
    let state = match own {
        Some(folder) => base(context).join(folder),
        None => state_root(context).join("workers"),
    };
    let worktrees = worktrees.unwrap_or_else(|| ".harn/worktrees".to_owned());
    WorkerFolders {
        state,
        worktrees: base(context).join(worktrees),
    }
}

fn wanted(context: &mut Context<'_>, variable: &str) -> Option<String> {
    match context.perform(&Request::Environment(variable.to_owned())) {
        Answer::Text(folder) => folder.filter(|folder| !folder.is_empty()),
        _ => None,
    }
}
