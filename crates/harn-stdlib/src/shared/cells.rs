//! Cells: single values.

use harn_machine::{Context, Failure, Value, argument, take};

use super::{Slot, Snapshot, expect_arguments, slot};
use crate::scopes::{Handle, Kind};

/// `shared_cell(key_or_options, initial = nil)`
pub(super) fn open(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let fill = |slot: &mut Slot, initial| slot.value = initial;
    super::open(Kind::Cell, "shared_cell", context, arguments, fill)
}

/// The cell that the first argument names.
fn cell<'a>(
    builtin: &str,
    context: &'a mut Context<'_>,
    arguments: &[Value],
) -> Result<&'a mut Slot, Failure> {
    expect_arguments(arguments, 1, &format!("{builtin}: handle is required"))?;
    let handle = Handle::given(Kind::Cell, builtin, context, argument(arguments, 0))?;
    Ok(slot(context, handle))
}

pub(super) fn get(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let cell = cell("shared_get", context, arguments)?;
    cell.reads += 1;
    Ok(cell.value.clone())
}

/// `shared_set(cell, value)`: the value before.
pub(super) fn set(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let cell = cell("shared_set", context, arguments)?;
    cell.note_write();
    Ok(std::mem::replace(&mut cell.value, take(arguments, 1)))
}

pub(super) fn snapshot(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let cell = cell("shared_snapshot", context, arguments)?;
    cell.reads += 1;
    let (value, version) = (cell.value.clone(), cell.version);
    Ok(Snapshot { value, version }.to_value())
}

/// `shared_cas(cell, expected, new)`: whether it was set.
pub(super) fn compare_and_set(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let message = "shared_cas: requires handle, expected, and new value";
    expect_arguments(arguments, 3, message)?;
    let cell = cell("shared_cas", context, arguments)?;
    let current = cell.value.clone();
    let sets = cell.is_as_expected(&current, argument(arguments, 1));
    if sets {
        cell.note_write();
        cell.value = take(arguments, 2);
    }
    Ok(sets.into())
}
