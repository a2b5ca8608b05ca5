//! What is in folders.

use std::path::Path;

use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Request, Value};

use super::content::{done, failed};
use super::root::{execution_root, resolve};
use super::{path, perform};
use crate::expect::text_or;
use crate::growing::texts;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("list_dir", list_dir),
        ("mkdir", mkdir),
        ("temp_dir", temp_dir),
    ]);
}

fn mkdir(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    let made = perform(context, FileRequest::MakeFolder(path.clone()));
    done(made, "Failed to create directory", &path)
}

fn list_dir(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = resolve(context, &text_or(arguments, 0, "."));
    match entries(context, &path) {
        Ok(entries) => texts(context, entries.iter().map(|entry| entry.name.as_str())),
        Err(reason) => failed("Failed to list directory", &path, &reason),
    }
}

fn temp_dir(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let wanted = context.perform(&Request::Environment("TMPDIR".to_owned()));
    Ok(match wanted {
        Answer::Text(Some(folder)) if !folder.is_empty() => folder.into(),
        _ => "/tmp".into(),
    })
}

/// Something in a folder.
pub(super) struct Entry {
    pub(super) name: String,
    /// `folder`, `file`, `link` or `other`.
    pub(super) kind: String,
}

/// The entries of a folder, sorted by name.
pub(super) fn entries(context: &mut Context<'_>, path: &Path) -> Result<Vec<Entry>, String> {
    let Answer::Pairs(pairs) = perform(context, FileRequest::List(path.to_owned()))? else {
        return Ok(Vec::new());
    };
    let entries = pairs.into_iter().map(|(name, kind)| Entry { name, kind });
    Ok(entries.collect())
}

/// The execution root as text.
pub(super) fn root_text(context: &mut Context<'_>) -> String {
    execution_root(context).display().to_string()
}
