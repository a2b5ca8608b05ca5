//! Sorting, and finding what comes first or last.
//!
//! What cannot be ordered counts as equal, so the order of values is no order a mathematician
//! would accept: `1` equals `"a"` equals `2`, and `1` comes before `2`. The sort of the standard
//! library may panic then. So lists whose items are all of one well-behaved kind are handed to
//! it, and the others are sorted here, by a merge that only ever believes the answer it has.

use std::cmp::Ordering;

use harn_machine::value::order;
use harn_machine::{Context, Failure, Value};

use super::{items, take_list};

/// Up to here items are inserted one by one.
const SHORT: usize = 20;

/// Items with the keys they are sorted by.
pub(super) type Keyed = (Value, Value);

pub(super) fn sort(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut list = take_list(arguments, 0);
    if !is_sorted(&list) {
        sort_stable(list.items_mut(), |item| item);
    }
    Ok(list.into())
}

fn is_sorted(items: &[Value]) -> bool {
    items.is_sorted_by(|one, next| !is_before(next, one)) && kind_of(items.iter()).is_some()
}

/// Sorts by key, keeping the order of those that are equal.
pub(super) fn sort_stable<T: Clone>(items: &mut [T], key: impl Fn(&T) -> &Value) {
    match kind_of(items.iter().map(&key)) {
        Some(()) => {
            items.sort_by(|one, other| order(key(one), key(other)).unwrap_or(Ordering::Equal))
        }
        None => merge_sort(items, &|one, other| is_before(key(one), key(other))),
    }
}

fn is_before(one: &Value, other: &Value) -> bool {
    order(one, other) == Some(Ordering::Less)
}

/// `Some` if all are of one kind whose order is total: then every sort agrees with every other.
fn kind_of<'a>(mut keys: impl Iterator<Item = &'a Value>) -> Option<()> {
    let is_total = |key: &Value| match key {
        Value::Int(_) | Value::Text(_) | Value::Duration(_) => true,
        Value::Float(value) => !value.is_nan(),
        _ => false,
    };
    let Some(first) = keys.next() else {
        return Some(());
    };
    let kind = std::mem::discriminant(first);
    let is_alike = |key: &Value| std::mem::discriminant(key) == kind && is_total(key);
    (is_total(first) && keys.all(is_alike)).then_some(())
}

/// A stable sort that ends with some permutation of the items whatever `is_before` says.
fn merge_sort<T: Clone>(items: &mut [T], is_before: &impl Fn(&T, &T) -> bool) {
    for short in items.chunks_mut(SHORT) {
        insertion_sort(short, is_before);
    }
    let mut width = SHORT;
    let mut merged = Vec::with_capacity(items.len());
    while width < items.len() {
        merged.clear();
        for both in items.chunks(width * 2) {
            let (left, right) = both.split_at(width.min(both.len()));
            merge(left, right, is_before, &mut merged);
        }
        items.clone_from_slice(&merged);
        width *= 2;
    }
}

fn insertion_sort<T>(items: &mut [T], is_before: &impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && is_before(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

fn merge<T: Clone>(
    left: &[T],
    right: &[T],
    is_before: &impl Fn(&T, &T) -> bool,
    merged: &mut Vec<T>,
) {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let next = match is_before(other, one) {
            true => right.next(),
            false => left.next(),
        };
        merged.extend(next.cloned());
    }
    merged.extend(left.cloned());
    merged.extend(right.cloned());
}

/// The position of the first key that no other comes before (`Less`) or after (`Greater`).
pub(super) fn first_extreme(keys: &[Value], wanted: Ordering) -> Option<usize> {
    let mut best = 0;
    for (at, key) in keys.iter().enumerate().skip(1) {
        if order(key, &keys[best]) == Some(wanted) {
            best = at;
        }
    }
    (!keys.is_empty()).then_some(best)
}

fn extreme(arguments: &[Value], wanted: Ordering) -> Result<Value, Failure> {
    let items = items(arguments);
    Ok(first_extreme(items, wanted)
        .map(|at| items[at].clone())
        .into())
}

pub(super) fn min(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    extreme(arguments, Ordering::Less)
}

pub(super) fn max(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    extreme(arguments, Ordering::Greater)
}

#[cfg(test)]
mod tests;
