//! The files of agent state.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use harn_machine::value::Text;
use harn_machine::{Answer, Before, Context, Failure, Fault, FileRequest, Request};

use super::handle::{Handle, Key, Policy, WRITERS};
use crate::files::root::resolve;
use crate::files::{perform, status};

/// The folder of a session.
fn folder(context: &mut Context<'_>, handle: &Handle) -> PathBuf {
    resolve(context, &handle.root).join(handle.session.as_str())
}

/// Makes the folder of a session.
pub(super) fn make(context: &mut Context<'_>, handle: &Handle) -> Result<(), Failure> {
    let folder = folder(context, handle);
    let made = perform(context, FileRequest::MakeFolder(folder));
    made.map(drop).map_err(|reason| failure("init", &reason))
}

pub(super) fn exists(context: &mut Context<'_>, handle: &Handle) -> bool {
    let folder = folder(context, handle);
    status(context, folder).is_some_and(|facts| facts.is_folder)
}

fn failure(function: &str, reason: &str) -> Failure {
    Fault::runtime(format!("agent_state.{function}: {reason}"))
}

/// Writes a text, unless another writer's may not be replaced.
pub(super) fn write(
    context: &mut Context<'_>,
    handle: &Handle,
    key: &Key,
    text: &Text,
) -> Result<(), Failure> {
    let folder = folder(context, handle);
    if let Some(writer) = handle.writer_name() {
        let note = folder.join(WRITERS).join(&key.path);
        sign(context, &note, key, writer, handle.policy)?;
    }
    let octets = text.as_bytes().to_vec();
    let written = replace(context, &folder.join(&key.path), octets, Before::Anything);
    written
        .map(drop)
        .map_err(|reason| failure("write", &reason))
}

/// Notes who writes. The note is replaced only if it still names whoever it was read to name,
/// so of two that write at the same time one learns of the other.
fn sign(
    context: &mut Context<'_>,
    note: &Path,
    key: &Key,
    writer: &Text,
    policy: Policy,
) -> Result<(), Failure> {
    loop {
        let earlier = read_octets(context, note).map_err(|reason| failure("write", &reason))?;
        if earlier.as_deref() == Some(writer.as_bytes()) {
            return Ok(());
        }
        if let Some(earlier) = &earlier {
            let (key, earlier) = (&key.name, String::from_utf8_lossy(earlier));
            let message = format!(
                "agent_state.write: key '{key}' was previously written by '{earlier}' and is now being written by '{writer}'"
            );
            match policy {
                Policy::Error => return Err(Fault::runtime(message)),
                Policy::Warn => context.write_error(&format!("warning: {message}\n")),
                Policy::Ignore => {}
            }
        }
        let before = earlier.map_or(Before::Nothing, Before::Octets);
        let signed = replace(context, note, writer.as_bytes().to_vec(), before);
        if signed.map_err(|reason| failure("write", &reason))? {
            return Ok(());
        }
    }
}

/// Replaces a file and makes its folder; whether it held what was expected.
fn replace(
    context: &mut Context<'_>,
    path: &Path,
    octets: Vec<u8>,
    before: Before,
) -> Result<bool, String> {
    if let Some(folder) = path.parent() {
        perform(context, FileRequest::MakeFolder(folder.to_owned()))?;
    }
    let replace = FileRequest::Replace(path.to_owned(), octets, before);
    Ok(perform(context, replace)? == Answer::Truth(true))
}

/// The content of a file, if there is one.
fn read_octets(context: &mut Context<'_>, path: &Path) -> Result<Option<Vec<u8>>, String> {
    match context.perform(&Request::File(FileRequest::Read(path.to_owned()))) {
        Answer::Octets(octets) => Ok(Some(octets)),
        Answer::Failed(failure) if failure.kind == ErrorKind::NotFound => Ok(None),
        Answer::Failed(failure) => Err(failure.message),
        _ => Ok(None),
    }
}

/// A text that was written.
pub(super) fn read(
    context: &mut Context<'_>,
    handle: &Handle,
    key: &Key,
) -> Result<Option<String>, Failure> {
    let path = folder(context, handle).join(&key.path);
    let octets = read_octets(context, &path).map_err(|reason| failure("read", &reason))?;
    let text = octets.map(String::from_utf8).transpose();
    text.map_err(|_| failure("read", "stream did not contain valid UTF-8"))
}

/// Removes a text, if it is there.
pub(super) fn delete(context: &mut Context<'_>, handle: &Handle, key: &Key) -> Result<(), Failure> {
    let folder = folder(context, handle);
    for path in [folder.join(&key.path), folder.join(WRITERS).join(&key.path)] {
        match context.perform(&Request::File(FileRequest::Delete(path))) {
            Answer::Failed(reason) if reason.kind != ErrorKind::NotFound => {
                return Err(failure("delete", &reason.message));
            }
            _ => {}
        }
    }
    Ok(())
}

/// All keys, sorted.
pub(super) fn list(context: &mut Context<'_>, handle: &Handle) -> Vec<String> {
    let root = folder(context, handle);
    let mut keys = Vec::new();
    let mut left = vec![(root, String::new())];
    while let Some((folder, prefix)) = left.pop() {
        let Ok(Answer::Pairs(entries)) = perform(context, FileRequest::List(folder.clone())) else {
            continue;
        };
        for (name, kind) in entries {
            let key = format!("{prefix}{name}");
            match kind.as_str() {
                "folder" if key == WRITERS => {}
                "folder" => left.push((folder.join(&name), format!("{key}/"))),
                // What a crash has left of a write that never happened.
                _ if name.starts_with('.') && name.ends_with(".tmp") => {}
                _ => keys.push(key),
            }
        }
    }
    keys.sort();
    keys
}
