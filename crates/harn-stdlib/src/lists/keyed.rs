//! What methods with a callback do once the callback has given a key for every item.

use std::cmp::Ordering;

use harn_machine::value::{Dict, List, Sameness, Set};
use harn_machine::{Context, Failure, Value};

use super::sort::{Keyed, first_extreme, sort_stable};
use super::take_list;

/// The items, each with its key.
fn keyed(arguments: &mut [Value]) -> impl Iterator<Item = Keyed> {
    let keys = take_list(arguments, 1).into_items();
    let items = take_list(arguments, 0).into_items();
    std::iter::zip(items, keys)
}

pub(crate) fn sort_by_keys(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut both: Vec<Keyed> = keyed(arguments).collect();
    sort_stable(&mut both, |(_, key)| key);
    Ok(both.into_iter().map(|(item, _)| item).collect())
}

fn extreme(arguments: &mut [Value], wanted: Ordering) -> Result<Value, Failure> {
    let keys = take_list(arguments, 1);
    let items = take_list(arguments, 0);
    let best = first_extreme(&keys, wanted);
    Ok(best.and_then(|at| items.get(at).cloned()).into())
}

pub(crate) fn least(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    extreme(arguments, Ordering::Less)
}

pub(crate) fn greatest(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    extreme(arguments, Ordering::Greater)
}

pub(crate) fn apart(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (truthy, others): (Vec<Keyed>, Vec<Keyed>) =
        keyed(arguments).partition(|(_, key)| key.is_truthy());
    let items = |keyed: Vec<Keyed>| keyed.into_iter().map(|(item, _)| item).collect();
    Ok(Value::list(vec![items(truthy), items(others)]))
}

pub(crate) fn group(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut groups = Dict::default();
    for (item, key) in keyed(arguments) {
        let key = key.to_text();
        match groups.get_mut(&key) {
            Some(Value::List(group)) => group.items_mut().push(item),
            _ => drop(groups.insert(key, List::from(vec![item]).into())),
        }
    }
    Ok(groups.into())
}

pub(crate) fn distinct(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut seen = Set::default();
    let mut first = Vec::new();
    for (item, key) in keyed(arguments) {
        if seen.add(key, Sameness::Structural) {
            first.push(item);
        }
    }
    Ok(Value::list(first))
}
