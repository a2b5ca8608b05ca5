//! Iterators, generators and streams: lifting values, and where their methods are.

use harn_machine::{Body, Context, Failure, Fault, Iter, Receiver, Registry, Value, argument};

pub(crate) fn register(registry: &mut Registry) {
    const FILE: &str = "iterators";
    registry.file(FILE, include_str!("../harn/iterators.harn"));
    registry.plain(&[("iter", iter)]);
    for receiver in LIFTED {
        registry.method(*receiver, &["iter"], Body::Plain(lift));
    }
    for function in METHODS {
        let body = Body::Harn {
            file: FILE,
            function,
        };
        registry.method(Receiver::Iter, &[function], body);
        if !OWN_OF_RANGES.contains(function) {
            registry.method(Receiver::Range, &[function], body);
        }
    }
    let next = Body::Harn {
        file: FILE,
        function: "next",
    };
    registry.method(Receiver::Generator, &["next"], next);
}

const LIFTED: &[Receiver] = &[
    Receiver::List,
    Receiver::Set,
    Receiver::Dict,
    Receiver::Range,
    Receiver::Iter,
    Receiver::Generator,
    Receiver::Channel,
];

const METHODS: &[&str] = &[
    "map",
    "filter",
    "flat_map",
    "take",
    "skip",
    "take_while",
    "skip_while",
    "zip",
    "enumerate",
    "chain",
    "chunks",
    "windows",
    "to_list",
    "to_set",
    "to_dict",
    "count",
    "sum",
    "min",
    "max",
    "first",
    "last",
    "reduce",
    "find",
    "any",
    "all",
    "for_each",
];

/// Ranges know these without being lifted.
const OWN_OF_RANGES: &[&str] = &["count", "first", "last"];

fn iter(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match arguments {
        [] => Err(Fault::type_error("iter: expected 1 argument")),
        arguments => lift(context, arguments),
    }
}

/// An iterator over a value.
pub(crate) fn lift(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let value = argument(arguments, 0);
    let iter = Iter::over(value).ok_or_else(|| {
        let kind = value.type_name();
        Fault::type_error(format!("iter: value of type {kind} is not iterable"))
    })?;
    Ok(Value::Iter(iter))
}
