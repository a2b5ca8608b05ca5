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
        ("username", username),
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

/// The variables that name the user, or else what the system calls the one whose process this is.
fn username(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let named = first_of(context, &["USER", "LOGNAME", "USERNAME"]);
    if !named.is_empty() {
        return Ok(named.into());
    }
    let status = read_text(context, PathBuf::from("/proc/self/status")).unwrap_or_default();
    let Some(id) = user_id(&status) else {
        return Ok("".into());
    };
    let accounts = read_text(context, PathBuf::from("/etc/passwd")).unwrap_or_default();
    Ok(user_name(&accounts, id).unwrap_or_default().into())
}

/// The number of the user for whom a process acts, from what the kernel says about it.
fn user_id(status: &str) -> Option<&str> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // The real user is the first, the effective one the second.
    line.split_whitespace().nth(1)
}

/// The name of the user with that number, from the accounts of a machine.
fn user_name<'a>(accounts: &'a str, id: &str) -> Option<&'a str> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1) == Some(id)).then_some(name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_names_a_user_by_number() {
        let status = "Name:\tharn\nUmask:\t0022\nUid:\t1000\t1001\t1000\t1000\nGid:\t7\t7\t7\t7\n";
        let accounts = "\
            # local accounts\n\
            root:x:0:0:root:/root:/bin/sh\n\
            :x:1001:0:nobody at all\n\
            ada:x:1000:1001::/home/ada:/bin/sh\n\
            eve:x:1001:1000::/home/eve:/bin/sh\n";
        assert_eq!(user_id(status), Some("1001"));
        assert_eq!(user_name(accounts, "1001"), Some("eve"));
        assert_eq!(user_name(accounts, "0"), Some("root"));
        assert_eq!(user_name(accounts, "100"), None);
        assert_eq!(user_id("Name:\tharn\n"), None);
    }
}
