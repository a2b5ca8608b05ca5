//! What the arguments of the builtins must be.

use harn_machine::{Failure, Fault, Value, argument};
use harn_options::{REQUEST_APPROVAL, Unknown};

use crate::people::{field, patience};

/// How long people have unless the program says otherwise: a day.
const TIMEOUT_MS: i64 = 24 * 60 * 60 * 1000;

fn fault<T>(builtin: &str, problem: &str) -> Result<T, Failure> {
    Err(Fault::runtime(format!("{builtin}: {problem}")))
}

/// A text argument.
pub(super) fn text(builtin: &str, arguments: &[Value], at: usize) -> Result<String, Failure> {
    match argument(arguments, at) {
        Value::Text(text) => Ok(text.to_string()),
        _ => fault(builtin, &format!("expected string argument at {at}")),
    }
}

/// An argument that counts something.
pub(super) fn positive(builtin: &str, arguments: &[Value], at: usize) -> Result<usize, Failure> {
    let Value::Int(number) = argument(arguments, at) else {
        return fault(builtin, &format!("expected int argument at {at}"));
    };
    match usize::try_from(*number) {
        Ok(number) if number > 0 => Ok(number),
        _ => fault(builtin, &format!("expected a positive int at {at}")),
    }
}

/// The dict of options, or nil.
pub(super) fn options<'a>(builtin: &str, arguments: &'a [Value]) -> Result<&'a Value, Failure> {
    match argument(arguments, 1) {
        options @ (Value::Nil | Value::Dict(_)) => Ok(options),
        _ => fault(builtin, "options must be a dict"),
    }
}

/// How long people have.
pub(super) fn timeout(options: &Value, name: &str) -> Result<i64, Failure> {
    match field(options, name) {
        None => Ok(TIMEOUT_MS),
        Some(given) => patience(given)
            .ok_or_else(|| Fault::runtime("expected a duration or millisecond count")),
    }
}

/// A list of names; nothing is an empty one.
pub(super) fn names(builtin: &str, given: Option<&Value>) -> Result<Vec<String>, Failure> {
    let items = match given {
        None | Some(Value::Nil) => return Ok(Vec::new()),
        Some(Value::List(items)) => items,
        Some(_) => return fault(builtin, "expected list<string>"),
    };
    let names = items.iter().map(|item| match item {
        Value::Text(name) => Ok(name.to_string()),
        _ => fault(builtin, "expected list<string>"),
    });
    names.collect()
}

/// How many have to approve.
pub(super) fn quorum(builtin: &str, options: &Value) -> Result<usize, Failure> {
    match field(options, "quorum") {
        None => Ok(1),
        Some(Value::Int(quorum)) if *quorum > 0 => {
            Ok(usize::try_from(*quorum).unwrap_or(usize::MAX))
        }
        Some(_) => fault(builtin, "quorum must be positive"),
    }
}

/// The options of an approval are none but those: a misspelt quorum would be one.
pub(super) fn approval_keys(builtin: &str, options: &Value) -> Result<(), Failure> {
    let Value::Dict(options) = options else {
        return Ok(());
    };
    let mut keys = options.iter().map(|(key, _)| key);
    let unknown = keys.find_map(|key| Unknown::find(&REQUEST_APPROVAL, "", key, |_| false));
    match unknown {
        None => Ok(()),
        Some(unknown) => fault(builtin, &unknown.to_string()),
    }
}

/// What proves that something should be approved.
pub(super) fn evidence(builtin: &str, options: &Value) -> Result<(), Failure> {
    match field(options, "evidence_refs") {
        None | Some(Value::List(_)) => Ok(()),
        Some(_) => fault(builtin, "evidence_refs must be a list"),
    }
}
