//! Files and paths.
//!
//! ```text
//! path as written ─► root::resolve ─► absolute path ─► Request::File ─► the world
//! ```
//!
//! A relative path is appended to the execution root as it is written, dots included, and that
//! is the path that messages show. Everything that goes wrong is thrown as text. What the policy
//! of the run forbids is an error of its own, also where something that is not there is none.

pub(crate) mod background;
mod content;
mod folders;
mod glob;
mod path_text;
mod path_workspace;
mod paths;
pub(crate) mod root;
mod walk;

use std::path::PathBuf;

use harn_machine::{
    Answer, Context, EffectFailure, Failure, Fault, FileRequest, FileStatus, Registry, Request,
    Value,
};

use crate::expect::text;

pub(crate) fn register(registry: &mut Registry) {
    content::register(registry);
    folders::register(registry);
    glob::register(registry);
    path_workspace::register(registry);
    paths::register(registry);
    walk::register(registry);
}

/// The absolute path of an argument.
fn path(context: &mut Context<'_>, arguments: &[Value], at: usize) -> PathBuf {
    root::resolve(context, &text(arguments, at))
}

/// Does something with files; gives the reason if it fails.
pub(crate) fn perform(context: &mut Context<'_>, request: FileRequest) -> Result<Answer, String> {
    attempt(context, request).map_err(|failure| failure.message)
}

/// The same, with what kind of failure it is.
fn attempt(context: &mut Context<'_>, request: FileRequest) -> Result<Answer, EffectFailure> {
    match context.perform(&Request::File(request)) {
        Answer::Failed(failure) => Err(failure),
        answer => Ok(answer),
    }
}

/// Fails if the policy of the run has just forbidden something, for those who would take that
/// for something that is not there.
pub(crate) fn allowed(context: &Context<'_>, builtin: &str) -> Result<(), Failure> {
    match context.refusal() {
        Some(reason) => Err(Fault::refused(builtin, reason)),
        None => Ok(()),
    }
}

/// The text of a file, or why it cannot be read.
pub(crate) fn read_text(context: &mut Context<'_>, path: PathBuf) -> Result<String, String> {
    let octets = read_octets(context, path)?;
    let not_text = |_| "stream did not contain valid UTF-8".to_owned();
    String::from_utf8(octets).map_err(not_text)
}

/// The content of a file, or why it cannot be read.
fn read_octets(context: &mut Context<'_>, path: PathBuf) -> Result<Vec<u8>, String> {
    match perform(context, FileRequest::Read(path))? {
        Answer::Octets(octets) => Ok(octets),
        _ => Ok(Vec::new()),
    }
}

/// Facts about what is at a path, if there is something.
pub(crate) fn status(context: &mut Context<'_>, path: PathBuf) -> Option<FileStatus> {
    match perform(context, FileRequest::Status(path)) {
        Ok(Answer::Status(status)) => status,
        _ => None,
    }
}
