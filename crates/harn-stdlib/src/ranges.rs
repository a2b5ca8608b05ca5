//! Ranges: what they know without going through their items. Every other method is one of
//! iterators; see `iterators`.

use harn_machine::value::Range;
use harn_machine::{Body, Plain, Receiver, Registry, Value, argument};

pub(crate) fn register(registry: &mut Registry) {
    for (names, body) in METHODS {
        registry.method(Receiver::Range, names, Body::Plain(*body));
    }
}

const METHODS: &[(&[&str], Plain)] = &[
    (&["len", "count"], |_, arguments| {
        Ok(range(arguments).len().into())
    }),
    (&["empty"], |_, arguments| {
        Ok(range(arguments).is_empty().into())
    }),
    (&["contains"], |_, arguments| {
        let Value::Int(number) = *argument(arguments, 1) else {
            return Ok(Value::Bool(false));
        };
        Ok(range(arguments).contains(number).into())
    }),
    (&["first"], |_, arguments| {
        let range = range(arguments);
        Ok(range.last().map(|_| range.start).into())
    }),
    (&["last"], |_, arguments| Ok(range(arguments).last().into())),
    (&["to_string"], |_, arguments| {
        Ok(argument(arguments, 0).to_text().into())
    }),
];

/// The range that a method is called on.
fn range(arguments: &[Value]) -> Range {
    const NOTHING: Range = Range {
        start: 0,
        end: 0,
        exclusive: true,
    };
    match argument(arguments, 0) {
        Value::Range(range) => **range,
        _ => NOTHING,
    }
}
