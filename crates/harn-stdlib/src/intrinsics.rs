//! What only the library's own Harn files may call; see `builtins::intrinsics` in `harn-check`.

use harn_machine::{Context, Failure, Fault, Iter, Registry, Value, argument};

use crate::{dicts, iterators, lists, sets};

/// Up to so many items are made in one go. Beyond that a loop makes them, which can be
/// interrupted and is measured on its way.
const DRAINED_MAX: usize = 1 << 20;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__apart", lists::apart),
        ("__callable", callable),
        ("__distinct", lists::distinct),
        ("__drain", drain),
        ("__elapsed", elapsed),
        ("__greatest", lists::greatest),
        ("__group", lists::group),
        ("__immediate", immediate),
        ("__iterable", iterable),
        ("__keep", dicts::keep),
        ("__lazy", iterators::lift),
        ("__least", lists::least),
        ("__lift", iterators::lift),
        ("__number", number),
        ("__rekey", dicts::rekey),
        ("__runtime_error", runtime_error),
        ("__set_of", sets::set_of),
        ("__sort", lists::sort_by_keys),
        ("__type_error", type_error),
        ("__with_values", dicts::with_values),
    ]);
}

fn callable(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(argument(arguments, 0).is_callable().into())
}

fn iterable(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(Iter::over(argument(arguments, 0)).is_some().into())
}

fn number(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let value = argument(arguments, 0);
    Ok(matches!(value, Value::Int(_) | Value::Float(_)).into())
}

fn drain(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Iter(iter) => iter.drain(DRAINED_MAX).map(Value::list).into(),
        _ => Value::Nil,
    })
}

fn immediate(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Iter(iter) => iter.is_immediate().into(),
        _ => Value::Bool(false),
    })
}

fn elapsed(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(context.elapsed().into())
}

fn type_error(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Err(Fault::type_error(argument(arguments, 0).show()))
}

fn runtime_error(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Err(Fault::runtime(argument(arguments, 0).show()))
}
