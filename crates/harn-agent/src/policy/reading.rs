//! Reads the dicts that programs write policies as.
//!
//! A limit that is spelled wrong must not turn into no limit, so what cannot be read is thrown
//! and never skipped. The label is the way to the option: `policy.tools`.

use harn_llm::desk::Thrown;
use harn_llm::options::value::kind;
use serde_json::{Map, Value};

use super::glob::check_pattern;

/// The fields of a policy; nil is a policy without fields.
pub(super) fn fields<'a>(
    label: &str,
    value: &'a Value,
) -> Result<Option<&'a Map<String, Value>>, Thrown> {
    match value {
        Value::Null => Ok(None),
        Value::Object(fields) => Ok(Some(fields)),
        other => Err(unexpected(label, "a dict", other)),
    }
}

/// A list of texts; nil is an empty one and a single text a list of one.
pub(super) fn texts(label: &str, value: Option<&Value>) -> Result<Vec<String>, Thrown> {
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) => return Ok(vec![text.clone()]),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(unexpected(label, "a list of strings", other)),
    };
    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
    texts
        .collect::<Option<_>>()
        .ok_or_else(|| Thrown::Plain(format!("{label}: list entries must be strings")))
}

/// A list of patterns, each of which can be read.
pub(super) fn patterns(label: &str, value: Option<&Value>) -> Result<Vec<String>, Thrown> {
    let patterns = texts(label, value)?;
    for pattern in &patterns {
        check_pattern(label, pattern)?;
    }
    Ok(patterns)
}

/// What to throw for a value of the wrong kind.
pub(super) fn unexpected(label: &str, expected: &str, value: &Value) -> Thrown {
    Thrown::Plain(format!("{label}: expected {expected}, got {}", kind(value)))
}
