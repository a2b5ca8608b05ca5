//! What the functions of memory are called with.

use std::collections::BTreeSet;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Fault, Value, argument};

use crate::dates::iso8601;
use crate::encoding::uuid_of_time;
use crate::expect::count;
use crate::random::octets;

/// The namespace, which comes first everywhere.
pub(super) fn namespace(function: &str, arguments: &[Value]) -> Result<Text, Failure> {
    required(function, "namespace", argument(arguments, 0))
}

/// Text that may not be blank.
pub(super) fn required(function: &str, name: &str, value: &Value) -> Result<Text, Failure> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Ok(text.clone()),
        _ => {
            let message = format!("{function}: `{name}` must be a non-empty string");
            Err(Fault::runtime(message))
        }
    }
}

/// Tags: one or several, each once, sorted.
pub(super) fn tags(function: &str, value: &Value) -> Result<BTreeSet<Text>, Failure> {
    let given = match value {
        Value::Nil => Vec::new(),
        Value::Text(tag) => vec![tag.clone()],
        Value::List(tags) => tags.iter().map(Value::to_text).collect(),
        other => {
            let message = format!(
                "{function}: `tags` must be a string, list, or nil, got {}",
                other.type_name()
            );
            return Err(Fault::runtime(message));
        }
    };
    let tags = given.iter().map(|tag| tag.trim());
    Ok(tags.filter(|tag| !tag.is_empty()).map(Text::new).collect())
}

/// A number of records.
pub(super) fn int_between(value: &Value, usual: i64, most: i64) -> usize {
    let wanted = match value {
        Value::Int(wanted) => *wanted,
        _ => usual,
    };
    count(wanted.clamp(1, most))
}

/// An option, or nil.
pub(super) fn option(options: &Value, name: &str) -> Value {
    match options {
        Value::Dict(options) => options.get(name).cloned().unwrap_or_default(),
        _ => Value::Nil,
    }
}

/// When something happens: when the options say, else now.
pub(super) fn moment(context: &mut Context<'_>, options: &Value) -> Value {
    match option(options, "now") {
        Value::Nil => iso8601(context.now()).into(),
        now => now.to_text().into(),
    }
}

pub(super) fn new_id(context: &mut Context<'_>) -> Text {
    let (now, random) = (context.now(), octets(context));
    uuid_of_time(now, random).into()
}
