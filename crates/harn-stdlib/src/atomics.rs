//! Numbers that tasks share.

use std::cell::Cell;
use std::rc::Rc;

use harn_machine::{Context, Failure, Registry, Value, argument};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("atomic", atomic),
        ("atomic_get", get),
        ("atomic_set", set),
        ("atomic_add", add),
        ("atomic_cas", compare_and_set),
    ]);
}

/// The number that a value stands for here.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) => Some(*number as i64),
        Value::Bool(truth) => Some(i64::from(*truth)),
        _ => None,
    }
}

fn cell(arguments: &[Value]) -> Option<&Cell<i64>> {
    match argument(arguments, 0) {
        Value::Atomic(cell) => Some(cell),
        _ => None,
    }
}

/// `atomic(n = 0)`
fn atomic(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let number = number(argument(arguments, 0)).unwrap_or(0);
    Ok(Value::Atomic(Rc::new(Cell::new(number))))
}

fn get(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(cell(arguments).map(Cell::get).into())
}

/// `atomic_set(a, n)`: the number before.
fn set(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(change(arguments, |_, new| new))
}

/// `atomic_add(a, n)`: the number before.
fn add(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(change(arguments, i64::wrapping_add))
}

/// Changes a number and gives the one before; nil if that is not possible.
fn change(arguments: &[Value], new: fn(i64, i64) -> i64) -> Value {
    let (Some(cell), Some(operand)) = (cell(arguments), number(argument(arguments, 1))) else {
        return Value::Nil;
    };
    cell.replace(new(cell.get(), operand)).into()
}

/// `atomic_cas(a, expected, new)`: whether it replaced.
fn compare_and_set(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let expected = number(argument(arguments, 1));
    let new = number(argument(arguments, 2));
    let (Some(cell), Some(expected), Some(new)) = (cell(arguments), expected, new) else {
        return Ok(false.into());
    };
    let replaces = cell.get() == expected;
    if replaces {
        cell.set(new);
    }
    Ok(replaces.into())
}
