//! Parts of lists: slices, the first and the last items, chunks and windows.

use harn_machine::value::List;
use harn_machine::{Context, Failure, Fault, Value, argument};

use super::take_list;

/// The int at a position, if one was passed.
fn int(arguments: &[Value], at: usize) -> Option<i64> {
    match argument(arguments, at) {
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

/// A count that a method is given; nothing and less than nothing are none.
fn count(arguments: &[Value], at: usize) -> usize {
    usize::try_from(int(arguments, at).unwrap_or(0)).unwrap_or(0)
}

/// The items from `start` up to `end`, in place if nobody else has the list.
fn part(mut list: List, start: usize, end: usize) -> Value {
    let end = end.min(list.len());
    let start = start.min(end);
    if start == 0 && end == list.len() {
        return list.into();
    }
    if list.is_unique() {
        let items = list.items_mut();
        items.truncate(end);
        items.drain(..start);
        return list.into();
    }
    Value::list(list[start..end].to_vec())
}

pub(super) fn slice(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (start, end) = (int(arguments, 1), int(arguments, 2));
    let list = take_list(arguments, 0);
    let len = list.len();
    let position = |index: i64| {
        let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        match index {
            0.. => distance.min(len),
            _ => len.saturating_sub(distance),
        }
    };
    let start = start.map_or(0, position);
    let end = end.map_or(len, position);
    Ok(part(list, start, end.max(start)))
}

pub(super) fn take_first(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let count = count(arguments, 1);
    Ok(part(take_list(arguments, 0), 0, count))
}

pub(super) fn skip(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let count = count(arguments, 1);
    Ok(part(take_list(arguments, 0), count, usize::MAX))
}

pub(super) fn first(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let wanted = int(arguments, 1).map(|_| count(arguments, 1));
    let list = take_list(arguments, 0);
    Ok(match wanted {
        Some(count) => part(list, 0, count),
        None => list.first().cloned().into(),
    })
}

pub(super) fn last(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let wanted = int(arguments, 1).map(|_| count(arguments, 1));
    let list = take_list(arguments, 0);
    let len = list.len();
    Ok(match wanted {
        Some(count) => part(list, len.saturating_sub(count), len),
        None => list.last().cloned().into(),
    })
}

/// The first argument of a function that wants a list. Methods always have one.
fn expect_list(name: &str, arguments: &mut [Value]) -> Result<List, Failure> {
    match arguments.first() {
        Some(Value::List(_)) => Ok(take_list(arguments, 0)),
        Some(other) => {
            let kind = other.type_name();
            let message = format!("{name}: first argument must be a list, got {kind}");
            Err(Fault::type_error(message))
        }
        None => Err(Fault::runtime(format!(
            "{name}: first argument must be a list"
        ))),
    }
}

/// A size; one that is no size is the smallest there is.
fn size(arguments: &[Value], at: usize, default: usize) -> usize {
    match int(arguments, at) {
        Some(size) => usize::try_from(size).unwrap_or(0).max(1),
        None => default,
    }
}

pub(super) fn chunk(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let size = size(arguments, 1, 1);
    let list = expect_list("chunk", arguments)?;
    Ok(list
        .chunks(size)
        .map(|piece| Value::list(piece.to_vec()))
        .collect())
}

pub(super) fn window(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (size, step) = (size(arguments, 1, 2), size(arguments, 2, 1));
    let list = expect_list("window", arguments)?;
    let windows = list.windows(size).step_by(step);
    let bytes = windows
        .len()
        .saturating_mul(size)
        .saturating_mul(size_of::<Value>());
    context.reserve(bytes)?;
    Ok(windows.map(|piece| Value::list(piece.to_vec())).collect())
}
