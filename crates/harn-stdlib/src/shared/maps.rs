//! Maps: values by name.

use harn_machine::{Context, Failure, Value, argument, take};

use super::{Slot, Snapshot, expect_arguments, slot};
use crate::scopes::{Handle, Kind};

/// `shared_map(key_or_options, initial = {})`
pub(super) fn open(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let fill = |slot: &mut Slot, initial| {
        if let Value::Dict(initial) = initial {
            slot.entries = initial;
        }
    };
    super::open(Kind::Map, "shared_map", context, arguments, fill)
}

/// The map that the first argument names.
fn map<'a>(
    builtin: &str,
    context: &'a mut Context<'_>,
    arguments: &[Value],
) -> Result<&'a mut Slot, Failure> {
    let handle = Handle::given(Kind::Map, builtin, context, argument(arguments, 0))?;
    Ok(slot(context, handle))
}

/// The same for a builtin that also wants a key.
fn map_with_key<'a>(
    builtin: &str,
    context: &'a mut Context<'_>,
    arguments: &[Value],
) -> Result<&'a mut Slot, Failure> {
    expect_arguments(arguments, 2, &format!("{builtin}: requires handle and key"))?;
    map(builtin, context, arguments)
}

/// `shared_map_get(map, key, fallback = nil)`
pub(super) fn get(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let map = map_with_key("shared_map_get", context, arguments)?;
    map.reads += 1;
    let value = map.entries.get_text(&argument(arguments, 1).to_text());
    Ok(value.unwrap_or(argument(arguments, 2)).clone())
}

/// `shared_map_set(map, key, value)`: the value before.
pub(super) fn set(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let message = "shared_map_set: requires handle, key, and value";
    expect_arguments(arguments, 3, message)?;
    let map = map("shared_map_set", context, arguments)?;
    map.note_write();
    let key = argument(arguments, 1).to_text();
    Ok(map.entries.insert(key, take(arguments, 2)).into())
}

/// `shared_map_delete(map, key)`: the value before.
pub(super) fn delete(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let map = map_with_key("shared_map_delete", context, arguments)?;
    let removed = map.entries.remove(&argument(arguments, 1).to_text());
    if removed.is_some() {
        map.note_write();
    }
    Ok(removed.into())
}

pub(super) fn entries(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    expect_arguments(arguments, 1, "shared_map_entries: handle is required")?;
    let map = map("shared_map_entries", context, arguments)?;
    map.reads += 1;
    Ok(map.entries.clone().into())
}

pub(super) fn snapshot(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let map = map_with_key("shared_map_snapshot", context, arguments)?;
    map.reads += 1;
    let value = map.entries.get_text(&argument(arguments, 1).to_text());
    let (value, version) = (value.cloned().unwrap_or_default(), map.version);
    Ok(Snapshot { value, version }.to_value())
}

/// `shared_map_cas(map, key, expected, new)`: whether it was set. Setting nil removes.
pub(super) fn compare_and_set(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let message = "shared_map_cas: requires handle, key, expected, and new value";
    expect_arguments(arguments, 4, message)?;
    let map = map("shared_map_cas", context, arguments)?;
    let key = argument(arguments, 1).to_text();
    let current = map.entries.get_text(&key).cloned().unwrap_or_default();
    let sets = map.is_as_expected(&current, argument(arguments, 2));
    if sets {
        map.note_write();
        match take(arguments, 3) {
            Value::Nil => map.entries.remove(&key),
            new => map.entries.insert(key, new),
        };
    }
    Ok(sets.into())
}
