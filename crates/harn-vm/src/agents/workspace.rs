//! The folders of a policy, where programs call builtins.
//!
//! A tool that is written in Harn may work with files inside the `workspace_roots` of its policy
//! only. Which of the arguments of a builtin are paths, and what it does with them, is data here.

use std::path::{Path, PathBuf};

use harn_agent::real_path::{RealPath, resolve, resolve_entry};
use harn_machine::{Answer, Context, Failure, Fault, FileRequest, Request, Value, argument};

use crate::policy::{Access, Policy, Rules};

/// Looks at the paths of a call. What a call gives without being made is `Some`.
pub(super) fn check(
    context: &mut Context<'_>,
    builtin: &'static str,
    arguments: &[Value],
    roots: &[String],
) -> Result<Option<Value>, Failure> {
    let here = Request::File(FileRequest::Canonical(PathBuf::from(".")));
    let here = match context.perform(&here) {
        Answer::Text(Some(here)) => PathBuf::from(here),
        _ => PathBuf::from("/"),
    };
    let rules = Rules {
        workspace_roots: roots.iter().map(|root| here.join(root)).collect(),
        ..Rules::default()
    };
    let policy = Policy::default().narrowed(rules);
    let policy = policy.map_err(|error| Fault::categorised("tool_rejected", error.to_string()))?;
    for (access, path) in paths(builtin, arguments) {
        let shown = here.join(path);
        let real = real(access, &shown).ok_or_else(|| endless(builtin, &shown))?;
        if let Err(refusal) = policy.check_path(access, &real.path, &shown) {
            let fault = Fault::refused(builtin, &refusal.to_string());
            return match builtin {
                "read_file_result" => Ok(Some(Value::err(fault.text().into()))),
                _ => Err(fault),
            };
        }
    }
    Ok(None)
}

fn endless(builtin: &str, path: &Path) -> Failure {
    let reason = format!("attempted to follow '{}' in circles", path.display());
    Fault::refused(builtin, &reason)
}

/// What is removed is a link itself, not what it leads to.
fn real(access: Access, path: &Path) -> Option<RealPath> {
    match access {
        Access::Delete => resolve_entry(path),
        Access::Read | Access::Write => resolve(path),
    }
}

/// Whether a builtin works with files.
pub(super) fn takes_paths(builtin: &str) -> bool {
    !paths(builtin, &[]).is_empty()
}

/// The paths that a builtin works with, and what it does with them.
fn paths(builtin: &str, arguments: &[Value]) -> Vec<(Access, String)> {
    use Access::{Delete, Read, Write};
    let text = |at: usize| match argument(arguments, at) {
        Value::Nil => String::new(),
        value => value.to_text().to_string(),
    };
    match builtin {
        "read_file" | "read_file_bytes" | "read_file_result" | "read_lines" | "file_exists"
        | "list_dir" | "stat" | "walk_dir" => vec![(Read, text(0))],
        "write_file" | "write_file_bytes" | "append_file" | "mkdir" => vec![(Write, text(0))],
        "delete_file" => vec![(Delete, text(0))],
        "copy_file" => vec![(Read, text(0)), (Write, text(1))],
        "move_file" => vec![(Delete, text(0)), (Write, text(1))],
        "glob" => vec![(Read, base(arguments))],
        _ => Vec::new(),
    }
}

/// Where `glob` looks.
fn base(arguments: &[Value]) -> String {
    let base = match argument(arguments, 1) {
        Value::Dict(options) => options.get("base"),
        base => Some(base),
    };
    let base = base.filter(|base| !matches!(base, Value::Nil));
    base.map_or_else(|| ".".to_owned(), |base| base.to_text().to_string())
}
