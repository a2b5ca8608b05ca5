//! JSON for people, as templates show values.

use harn_machine::Value;

use crate::json::{self, Members};

/// A value as indented JSON.
pub(super) fn indented(value: &Value) -> String {
    json::indented(value, 0, members, json::write)
}

fn members(value: &Value) -> Option<Members<'_>> {
    Some(match value {
        Value::List(items) => Members::Items(items.iter().collect()),
        Value::Set(set) => Members::Items(set.iter().collect()),
        Value::Dict(dict) => Members::Entries(dict.iter().collect()),
        Value::Struct(it) => Members::Entries(it.fields().collect()),
        _ => return None,
    })
}
