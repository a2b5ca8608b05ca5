//! What is in files.

use std::io::ErrorKind;
use std::path::Path;

use harn_machine::value::Bytes;
use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Value, argument, thrown};

use super::{allowed, attempt, path, perform, read_octets, read_text, status};
use crate::encoding::octets;
use crate::growing::texts;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("append_file", append_file),
        ("copy_file", copy_file),
        ("delete_file", delete_file),
        ("file_exists", file_exists),
        ("move_file", move_file),
        ("read_file", read_file),
        ("read_file_bytes", read_file_bytes),
        ("read_file_result", read_file_result),
        ("read_lines", read_lines),
        ("stat", stat),
        ("write_file", write_file),
        ("write_file_bytes", write_file_bytes),
    ]);
}

/// The content as text, or the message about why not.
fn content(context: &mut Context<'_>, arguments: &[Value]) -> Result<String, String> {
    let path = path(context, arguments, 0);
    let shown = path.display().to_string();
    let text = read_text(context, path);
    text.map_err(|reason| format!("Failed to read file {shown}: {reason}"))
}

fn read_file(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match content(context, arguments) {
        Ok(text) => Ok(text.into()),
        Err(message) => thrown(message),
    }
}

fn read_file_result(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let content = content(context, arguments);
    if let Err(refused) = allowed(context, "read_file_result") {
        return Ok(Value::err(refused.text().into()));
    }
    Ok(match content {
        Ok(text) => Value::ok(text.into()),
        Err(message) => Value::err(message.into()),
    })
}

fn read_file_bytes(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    match read_octets(context, path.clone()) {
        Ok(octets) => Ok(Value::Bytes(Bytes::from(octets))),
        Err(reason) => failed("Failed to read file", &path, &reason),
    }
}

fn read_lines(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    match read_text(context, path.clone()) {
        Ok(text) => texts(context, text.lines()),
        Err(reason) => failed("read_lines:", &path, &reason),
    }
}

/// Throws what went wrong with a path.
pub(super) fn failed(what: &str, path: &Path, reason: &str) -> Result<Value, Failure> {
    thrown(format!("{what} {}: {reason}", path.display()))
}

/// Nil, or what went wrong with a path.
pub(super) fn done(
    result: Result<Answer, String>,
    what: &str,
    path: &Path,
) -> Result<Value, Failure> {
    match result {
        Ok(_) => Ok(Value::Nil),
        Err(reason) => failed(what, path, &reason),
    }
}

fn write_file(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let path = path(context, arguments, 0);
    let content = written(context, argument(arguments, 1))?;
    let written = perform(context, FileRequest::Write(path.clone(), content));
    done(written, "Failed to write file", &path)
}

fn write_file_bytes(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let content = argument(arguments, 1);
    if !matches!(content, Value::Bytes(_)) {
        let kind = content.type_name();
        return thrown(format!(
            "write_file_bytes expects bytes content, got {kind}"
        ));
    }
    if let Value::Bytes(bytes) = content {
        context.reserve(bytes.len())?;
    }
    let content = octets(content);
    let path = path(context, arguments, 0);
    let written = perform(context, FileRequest::Write(path.clone(), content));
    done(written, "Failed to write file", &path)
}

fn append_file(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let path = path(context, arguments, 0);
    let content = written(context, argument(arguments, 1))?;
    match attempt(context, FileRequest::Append(path.clone(), content)) {
        Ok(_) => Ok(Value::Nil),
        Err(failure) if is_of_writing(failure.kind) => {
            failed("Failed to append to file", &path, &failure.message)
        }
        Err(failure) => failed("Failed to open file", &path, &failure.message),
    }
}

/// The octets of what a value is shown as.
fn written(context: &mut Context<'_>, value: &Value) -> Result<Vec<u8>, Failure> {
    let text = value.to_text_within(context.budget())?;
    context.reserve(text.len())?;
    Ok(text.as_bytes().to_vec())
}

/// Whether a failure arises only after a file was opened.
fn is_of_writing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::FileTooLarge
            | ErrorKind::WriteZero
            | ErrorKind::BrokenPipe
    )
}

fn copy_file(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let (from, to) = (path(context, arguments, 0), path(context, arguments, 1));
    let what = format!("Failed to copy {} to", from.display());
    let copied = perform(context, FileRequest::Copy(from, to.clone()));
    done(copied, &what, &to)
}

fn move_file(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return thrown("move_file: src and dst are required");
    }
    let (from, to) = (path(context, arguments, 0), path(context, arguments, 1));
    if perform(context, FileRequest::Move(from.clone(), to.clone())).is_ok() {
        return Ok(Value::Nil);
    }
    allowed(context, "move_file")?;
    // Another disk can only be copied to.
    if let Err(reason) = perform(context, FileRequest::Copy(from.clone(), to)) {
        return thrown(format!("move_file: copy failed: {reason}"));
    }
    match perform(context, FileRequest::Delete(from)) {
        Ok(_) => Ok(Value::Nil),
        Err(reason) => thrown(format!("move_file: remove src failed: {reason}")),
    }
}

fn delete_file(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    let is_folder = status(context, path.clone()).is_some_and(|status| status.is_folder);
    let what = match is_folder {
        true => "Failed to delete directory",
        false => "Failed to delete file",
    };
    let deleted = perform(context, FileRequest::Delete(path.clone()));
    done(deleted, what, &path)
}

fn file_exists(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    let exists = status(context, path).is_some();
    allowed(context, "file_exists")?;
    Ok(exists.into())
}

fn stat(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    let status = match perform(context, FileRequest::Status(path.clone())) {
        Ok(Answer::Status(Some(status))) => status,
        Ok(_) => {
            let reason = "No such file or directory (os error 2)";
            return failed("Failed to stat", &path, reason);
        }
        Err(reason) => return failed("Failed to stat", &path, &reason),
    };
    let size = i64::try_from(status.size).unwrap_or(i64::MAX);
    Ok(Value::dict([
        ("is_dir", status.is_folder.into()),
        ("is_file", status.is_file.into()),
        ("modified", Value::Float(status.modified as f64 / 1000.0)),
        ("readonly", status.is_readonly.into()),
        ("size", Value::Int(size)),
    ]))
}
