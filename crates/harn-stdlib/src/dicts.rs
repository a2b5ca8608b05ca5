//! Dicts: the methods that call nothing back, and what the others need.

use harn_machine::value::{Dict, Text};
use harn_machine::{Body, Context, Failure, Plain, Receiver, Registry, Value, argument, take};

use crate::lists::take_list;

pub(crate) fn register(registry: &mut Registry) {
    registry.file("dicts", include_str!("../harn/dicts.harn"));
    for (name, body) in PLAIN {
        registry.method(Receiver::Dict, &[name], Body::Plain(*body));
    }
    for (names, function) in CALLING_BACK {
        let file = "dicts";
        registry.method(Receiver::Dict, names, Body::Harn { file, function });
    }
}

const PLAIN: &[(&str, Plain)] = &[
    ("keys", keys),
    ("values", values),
    ("entries", entries),
    ("count", count),
    ("has", has),
    ("get", get),
    ("merge", merge),
    ("remove", remove),
];

const CALLING_BACK: &[(&[&str], &str)] = &[
    (&["map_values"], "map_values"),
    (&["map_keys", "rekey"], "rekey"),
    (&["filter"], "filter"),
];

/// The dict that a method is called on, or that a function is given.
fn dict(arguments: &[Value]) -> Dict {
    match argument(arguments, 0) {
        Value::Dict(dict) => dict.clone(),
        _ => Dict::default(),
    }
}

/// Takes that dict, to change it.
fn take_dict(arguments: &mut [Value], at: usize) -> Dict {
    match take(arguments, at) {
        Value::Dict(dict) => dict,
        _ => Dict::default(),
    }
}

/// A key that a method is given.
fn key(arguments: &[Value]) -> Text {
    arguments.get(1).map(Value::to_text).unwrap_or_default()
}

fn keys(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(dict(arguments).keys().cloned().map(Value::Text).collect())
}

fn values(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(dict(arguments).values().cloned().collect())
}

fn entries(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (key_name, value_name) = (Text::new("key"), Text::new("value"));
    let entry = |(key, value): (&Text, &Value)| {
        let key = (key_name.clone(), Value::Text(key.clone()));
        Value::Dict(Dict::from_sorted(vec![
            key,
            (value_name.clone(), value.clone()),
        ]))
    };
    Ok(dict(arguments).iter().map(entry).collect())
}

fn count(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(dict(arguments).len().into())
}

fn has(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(dict(arguments).get_text(&key(arguments)).is_some().into())
}

fn get(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let found = dict(arguments).get_text(&key(arguments)).cloned();
    Ok(found.unwrap_or_else(|| take(arguments, 2)))
}

fn merge(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let other = take_dict(arguments, 1);
    let mut dict = take_dict(arguments, 0);
    if dict.is_empty() {
        return Ok(other.into());
    }
    for (key, value) in &other {
        dict.insert(key.clone(), value.clone());
    }
    Ok(dict.into())
}

fn remove(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let key = key(arguments);
    let mut dict = take_dict(arguments, 0);
    dict.remove(&key);
    Ok(dict.into())
}

/// The keys of a dict with other values.
pub(crate) fn with_values(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let values = take_list(arguments, 1).into_items();
    let dict = dict(arguments);
    let entries = dict.keys().cloned().zip(values);
    Ok(Dict::from_sorted(entries.collect()).into())
}

/// The values of a dict with other keys; the last of those that become the same wins.
pub(crate) fn rekey(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let keys = take_list(arguments, 1);
    let dict = dict(arguments);
    let entries = keys.iter().map(Value::to_text).zip(dict.values().cloned());
    Ok(entries.collect::<Dict>().into())
}

/// The entries of a dict, or the members of a set, whose test is truthy.
pub(crate) fn keep(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let tests = take_list(arguments, 1);
    let mut tests = tests.iter().map(Value::is_truthy);
    if let Value::Set(_) = argument(arguments, 0)
        && let Value::Set(mut set) = take(arguments, 0)
    {
        set.retain(|_| tests.next() == Some(true));
        return Ok(set.into());
    }
    let dict = dict(arguments);
    let kept = dict.iter().zip(tests).filter(|(_, test)| *test);
    let kept = kept.map(|((key, value), _)| (key.clone(), value.clone()));
    Ok(Dict::from_sorted(kept.collect()).into())
}
