//! What a program wants to pack.

use harn_machine::value::{Dict, List, Text};
use harn_machine::{Failure, Value, argument};

use super::{fail, paths};
use crate::encoding::arguments::Octets;

/// A file to pack.
pub(super) struct Entry {
    pub(super) path: Text,
    pub(super) content: Octets,
    /// Its permissions, if it says any.
    pub(super) mode: Option<u32>,
}

/// How many bits permissions have.
const MODE_MAX: u32 = 0o7777;

/// The files that the first argument lists. They are numbered from 0, as in the list.
pub(super) fn listed(function: &str, arguments: &[Value]) -> Result<Vec<Entry>, Failure> {
    if arguments.is_empty() {
        return fail(function, "missing argument 1");
    }
    let entries: &List = match argument(arguments, 0) {
        Value::List(entries) => entries,
        other => {
            let kind = other.type_name();
            return fail(function, format!("entries must be a list, got {kind}"));
        }
    };
    let numbered = entries.iter().enumerate();
    numbered
        .map(|(number, entry)| match read(entry) {
            Ok(entry) => Ok(entry),
            Err(reason) => fail(function, format!("entry {number} {reason}")),
        })
        .collect()
}

fn read(entry: &Value) -> Result<Entry, String> {
    let Value::Dict(entry) = entry else {
        return Err(format!("must be a dict, got {}", entry.type_name()));
    };
    Ok(Entry {
        path: path(entry)?,
        content: content(entry)?,
        mode: mode(entry)?,
    })
}

fn path(entry: &Dict) -> Result<Text, String> {
    let path = match entry.get("path") {
        None => return Err("is missing path".to_owned()),
        Some(Value::Text(path)) => path,
        Some(other) => {
            return Err(format!("path must be a string, got {}", other.type_name()));
        }
    };
    if path.is_empty() {
        return Err("path must not be empty".to_owned());
    }
    match paths::problem(path) {
        None => Ok(path.clone()),
        Some(problem) => Err(format!("invalid path: {problem}: {path}")),
    }
}

fn content(entry: &Dict) -> Result<Octets, String> {
    match entry.get("content") {
        None => Err("is missing content".to_owned()),
        Some(value @ (Value::Text(_) | Value::Bytes(_))) => Ok(Octets::of(value)),
        Some(other) => {
            let kind = other.type_name();
            Err(format!("content must be bytes or string, got {kind}"))
        }
    }
}

fn mode(entry: &Dict) -> Result<Option<u32>, String> {
    match entry.get("mode") {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Int(mode)) => match u32::try_from(*mode) {
            Ok(mode) if mode <= MODE_MAX => Ok(Some(mode)),
            _ => Err(format!("mode must be between 0 and {MODE_MAX}")),
        },
        Some(other) => Err(format!("mode must be an int, got {}", other.type_name())),
    }
}
