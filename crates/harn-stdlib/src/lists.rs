//! Lists: the methods and functions that call nothing back.
//!
//! A list that nobody else has is changed in place, so `xs = xs.push(x)` in a loop costs what
//! it costs to append. What takes a callback is in `harn/lists.harn`; it collects the answers
//! of the callback and lets [`keyed`] do the rest.

mod keyed;
mod pieces;
mod sort;

use harn_machine::value::{Dict, List, Sameness, Set, Text};
use harn_machine::{
    Body, Context, Each, Failure, Plain, Receiver, Registry, Value, argument, take,
};

use crate::growing::Growing;

pub(crate) use keyed::{apart, distinct, greatest, group, least, sort_by_keys};

pub(crate) fn register(registry: &mut Registry) {
    registry.file("lists", include_str!("../harn/lists.harn"));
    registry.plain(&[("chunk", pieces::chunk), ("window", pieces::window)]);
    registry.harn(
        "lists",
        &[
            ("dedup_by", "dedup_by_function"),
            ("flat_map", "flat_map_function"),
            ("group_by", "group_by_function"),
            ("partition", "partition_function"),
        ],
    );
    for (names, body) in PLAIN {
        registry.method(Receiver::List, names, Body::Plain(*body));
    }
    let file = "lists";
    for (names, function) in CALLING_BACK {
        registry.method(Receiver::List, names, Body::Harn { file, function });
    }
    for (function, each) in EACH {
        let body = Body::Each {
            each: *each,
            file,
            function,
        };
        registry.method(Receiver::List, &[*function], body);
    }
}

/// Those that programs spend their time in.
const EACH: &[(&str, Each)] = &[
    ("map", Each::Map),
    ("filter", Each::Filter),
    ("reduce", Each::Reduce),
];

const PLAIN: &[(&[&str], Plain)] = &[
    (&["count"], count),
    (&["empty"], empty),
    (&["sort"], sort::sort),
    (&["reverse"], reverse),
    (&["join"], join),
    (&["contains"], contains),
    (&["index_of"], index_of),
    (&["enumerate"], enumerate),
    (&["zip"], zip),
    (&["slice"], pieces::slice),
    (&["take"], pieces::take_first),
    (&["skip"], pieces::skip),
    (&["first"], pieces::first),
    (&["last"], pieces::last),
    (&["push"], push),
    (&["pop"], pop),
    (&["sum"], sum),
    (&["min"], sort::min),
    (&["max"], sort::max),
    (&["unique"], unique),
    (&["flatten"], flatten),
    (&["compact"], compact),
    (&["tally"], tally),
    (&["chunk", "each_slice"], pieces::chunk),
    (&["window", "each_cons", "sliding_window"], pieces::window),
];

const CALLING_BACK: &[(&[&str], &str)] = &[
    (&["flat_map"], "flat_map"),
    (&["find"], "find"),
    (&["find_index"], "find_index"),
    (&["any"], "any"),
    (&["all", "every", "all?"], "all"),
    (&["none", "none?"], "none"),
    (&["sort_by"], "sort_by"),
    (&["min_by"], "min_by"),
    (&["max_by"], "max_by"),
    (&["partition"], "partition"),
    (&["group_by"], "group_by"),
];

/// Takes the list that a method is called on, or that a function is given.
pub(crate) fn take_list(arguments: &mut [Value], at: usize) -> List {
    match take(arguments, at) {
        Value::List(list) => list,
        _ => List::default(),
    }
}

/// The items of the list that a method is called on.
fn items(arguments: &[Value]) -> &[Value] {
    match argument(arguments, 0) {
        Value::List(list) => list,
        _ => &[],
    }
}

fn count(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(items(arguments).len().into())
}

fn empty(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(items(arguments).is_empty().into())
}

fn reverse(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    reserve_each(context, items(arguments).len(), size_of::<Value>())?;
    let mut list = take_list(arguments, 0);
    list.items_mut().reverse();
    Ok(list.into())
}

fn join(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let separator = match arguments.get(1) {
        Some(separator) => separator.to_text(),
        None => Text::default(),
    };
    let items = items(arguments);
    let mut out = Growing::default();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(context, &separator)?;
        }
        out.push_shown(context, item)?;
    }
    Ok(out.finish().into())
}

fn contains(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(position(context, arguments)?.is_some().into())
}

fn index_of(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let found = position(context, arguments)?;
    Ok(found.map_or(Value::Int(-1), Value::from))
}

/// Where the second argument is in the first. Items can be large and nearly the same.
fn position(context: &mut Context<'_>, arguments: &[Value]) -> Result<Option<usize>, Failure> {
    let wanted = argument(arguments, 1);
    for (at, item) in items(arguments).iter().enumerate() {
        let compared = match item {
            Value::Text(text) => text.len(),
            Value::List(items) => items.len() * size_of::<Value>(),
            _ => 0,
        };
        context.budget().read(compared)?;
        if item == wanted {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn enumerate(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    reserve_each(context, items(arguments).len(), 200)?;
    let (index, value) = (Text::new("index"), Text::new("value"));
    let items = take_list(arguments, 0).into_items().into_iter();
    let entry = |(at, item): (usize, Value)| {
        let fields = vec![(index.clone(), at.into()), (value.clone(), item)];
        Value::Dict(Dict::from_sorted(fields))
    };
    Ok(items.enumerate().map(entry).collect())
}

fn zip(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    reserve_each(context, items(arguments).len(), 112)?;
    let others = take_list(arguments, 1).into_items();
    let items = take_list(arguments, 0).into_items().into_iter();
    let both = items
        .zip(others)
        .map(|(one, other)| Value::list(vec![one, other]));
    Ok(both.collect())
}

/// A list of so many items is about to be made that take so many bytes each.
fn reserve_each(context: &mut Context<'_>, count: usize, bytes: usize) -> Result<(), Failure> {
    context.reserve(count.saturating_mul(bytes))
}

fn push(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let item = take(arguments, 1);
    let mut list = take_list(arguments, 0);
    list.items_mut().push(item);
    Ok(list.into())
}

fn pop(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut list = take_list(arguments, 0);
    if !list.is_empty() {
        list.items_mut().pop();
    }
    Ok(list.into())
}

/// From left to right, in ints until the first float.
fn sum(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let add = |total, item: &Value| match (total, item) {
        (Value::Int(total), Value::Int(item)) => Value::Int(total.wrapping_add(*item)),
        (Value::Int(total), Value::Float(item)) => Value::Float(total as f64 + item),
        (Value::Float(total), Value::Int(item)) => Value::Float(total + *item as f64),
        (Value::Float(total), Value::Float(item)) => Value::Float(total + item),
        (total, _) => total,
    };
    Ok(items(arguments).iter().fold(Value::Int(0), add))
}

fn unique(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    reserve_each(context, items(arguments).len(), 2 * size_of::<Value>())?;
    for item in items(arguments) {
        item.check_shown(context.budget())?;
    }
    let set = Set::new(take_list(arguments, 0).into_items(), Sameness::Structural);
    Ok(Value::list(set.into_items()))
}

fn flatten(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let sizes = items(arguments).iter().map(|item| match item {
        Value::List(inner) => inner.len(),
        _ => 1,
    });
    let total: usize = sizes.sum();
    context.reserve(total.saturating_mul(size_of::<Value>()))?;
    let mut out = Vec::with_capacity(total);
    for item in take_list(arguments, 0).into_items() {
        match item {
            Value::List(inner) => out.extend(inner.into_items()),
            other => out.push(other),
        }
    }
    Ok(Value::list(out))
}

fn compact(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut list = take_list(arguments, 0);
    if list.iter().any(Value::is_nil) {
        list.items_mut().retain(|item| !item.is_nil());
    }
    Ok(list.into())
}

fn tally(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut counts = Dict::default();
    for item in items(arguments) {
        let key = item.to_text_within(context.budget())?;
        match counts.get_mut(&key) {
            Some(Value::Int(count)) => *count += 1,
            _ => drop(counts.insert(key, Value::Int(1))),
        }
    }
    Ok(counts.into())
}
