//! What is in folders.

use std::path::Path;

use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Request, Value};

use super::content::{done, failed};
use super::root::{execution_root, resolve};
use super::{path, perform};
use crate::dates::iso8601;
use crate::encoding::hex;
use crate::expect::text_or;
use crate::random::octets;

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
        Ok(entries) => Ok(entries.into_iter().map(|entry| entry.name.into()).collect()),
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

/// What is told of an operation that goes on in the background.
pub(super) fn begun(context: &mut Context<'_>, operation: &str, descriptor: &str) -> Value {
    let handle = format!("hso-{}", hex::encode(&octets::<8>(context)));
    Value::dict([
        ("command_or_op_descriptor", descriptor.into()),
        ("duration_ms", Value::Int(0)),
        ("ended_at", Value::Nil),
        ("handle_id", handle.into()),
        ("operation", operation.into()),
        ("started_at", iso8601(context.now()).into()),
        ("status", "running".into()),
    ])
}

/// The execution root as text.
pub(super) fn root_text(context: &mut Context<'_>) -> String {
    execution_root(context).display().to_string()
}
