//! Where and as whom a program runs.

use std::path::{Path, PathBuf};

use harn_machine::{Answer, Context, Failure, Fault, Registry, Request, Value, argument, take};

use crate::expect::{int_or, text};
use crate::files::root::{execution_root, project_around, source_folder};
use crate::files::{allowed, read_text};
use crate::surroundings;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("arch", |_, _| Ok(std::env::consts::ARCH.into())),
        ("asset_root", |context, _| {
            Ok(shown(&source_folder(context)))
        }),
        ("cwd", |context, _| Ok(shown(&execution_root(context)))),
        ("env", env),
        ("env_or", env_or),
        ("execution_root", |context, _| {
            Ok(shown(&execution_root(context)))
        }),
        ("exit", exit),
        ("home_dir", |context, _| {
            Ok(first_of(context, &["HOME", "USERPROFILE"]).into())
        }),
        ("hostname", hostname),
        ("pid", |_, _| Ok(Value::Int(i64::from(std::process::id())))),
        ("platform", |_, _| Ok(platform().into())),
        ("project_root", project_root),
        ("runtime_paths", runtime_paths),
        ("source_dir", |context, _| {
            Ok(shown(&source_folder(context)))
        }),
        ("username", |context, _| {
            Ok(first_of(context, &["USER", "LOGNAME", "USERNAME"]).into())
        }),
    ]);
}

fn shown(path: &Path) -> Value {
    path.display().to_string().into()
}

/// A variable of the environment.
pub(crate) fn variable(context: &mut Context<'_>, name: &str) -> Option<String> {
    if let Some(own) = surroundings::variable(context, name) {
        return Some(own);
    }
    match context.perform(&Request::Environment(name.to_owned())) {
        Answer::Text(value) => value,
        _ => None,
    }
}

/// The first of some variables that is set, or nothing. One that the policy of the run hides is
/// not set.
fn first_of(context: &mut Context<'_>, names: &[&str]) -> String {
    let mut values = names.iter().filter_map(|name| variable(context, name));
    values.find(|value| !value.is_empty()).unwrap_or_default()
}

fn env(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let value = variable(context, &text(arguments, 0));
    allowed(context, "env")?;
    Ok(value.into())
}

fn env_or(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let value = variable(context, &text(arguments, 0));
    allowed(context, "env_or")?;
    Ok(match value {
        Some(value) => value.into(),
        None => take(arguments, 1),
    })
}

fn exit(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let code = match argument(arguments, 0) {
        Value::Bool(is_fine) => i64::from(!is_fine),
        _ => int_or(arguments, 0, 0),
    };
    // A status beyond 32 bits is shown by the system as its lowest bits.
    Err(Fault::exit(code as i32))
}

fn hostname(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let named = read_text(context, PathBuf::from("/etc/hostname")).unwrap_or_default();
    Ok(match named.trim() {
        "" => first_of(context, &["HOSTNAME", "COMPUTERNAME"]).into(),
        name => name.into(),
    })
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn project_root(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let source = source_folder(context);
    let around = project_around(context, &source);
    Ok(around.map_or(Value::Nil, |root| shown(&root)))
}

fn runtime_paths(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let (root, source) = (execution_root(context), source_folder(context));
    let project = project_around(context, &root);
    let project = project.or_else(|| project_around(context, &source));
    let base = project.unwrap_or_else(|| source.clone());
    let mut place = |name: &str, usual: &str| {
        let wanted = variable(context, name).filter(|folder| !folder.is_empty());
        shown(&base.join(wanted.as_deref().unwrap_or(usual)))
    };
    Ok(Value::dict([
        ("state_root", place("HARN_STATE_DIR", ".harn")),
        ("run_root", place("HARN_RUN_DIR", ".harn-runs")),
        (
            "worktree_root",
            place("HARN_WORKTREE_DIR", ".harn/worktrees"),
        ),
        ("asset_root", shown(&source)),
        ("execution_root", shown(&root)),
    ]))
}
