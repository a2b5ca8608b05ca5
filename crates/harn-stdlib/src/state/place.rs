//! Where a program keeps things between runs.

use std::path::PathBuf;

use harn_machine::{Answer, Context, Request};

use crate::files::root::{execution_root, project_around};

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
    let root = execution_root(context);
    let script = context.entrance().folder.clone();
    let script = script.map(|folder| root.join(folder));
    let base = project_around(context, &root);
    let base = base.or_else(|| project_around(context, script.as_deref()?));
    let base = base.or(script).unwrap_or(root);
    context.state::<Places>().base = Some(base.clone());
    base
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
