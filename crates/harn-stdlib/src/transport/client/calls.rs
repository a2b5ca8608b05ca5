//! What a program did with mocked connections.

use std::collections::VecDeque;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Holds, Value};

/// How many calls are remembered; the oldest are forgotten first.
const CALLS_MAX: usize = 100_000;

/// Something that was done with a mocked connection.
pub(super) struct Call {
    pub(super) kind: &'static str,
    pub(super) url: Text,
    pub(super) handle: Text,
    /// The kind of a message and what was in it.
    pub(super) message: Option<(&'static str, Value)>,
}

#[derive(Default)]
struct Calls(VecDeque<Call>);

impl Holds for Calls {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for (_, data) in self.0.iter().filter_map(|call| call.message.as_ref()) {
            each(data);
        }
    }
}

/// Remembers a call.
pub(super) fn note(context: &mut Context<'_>, call: Call) {
    let calls = &mut context.holding::<Calls>().0;
    if calls.len() == CALLS_MAX {
        calls.pop_front();
    }
    calls.push_back(call);
}

/// Forgets all calls.
pub(super) fn clear(context: &mut Context<'_>) {
    context.holding::<Calls>().0.clear();
}

/// `transport_mock_calls()`
pub(super) fn transport_mock_calls(
    context: &mut Context<'_>,
    _: &mut [Value],
) -> Result<Value, Failure> {
    let calls = context.holding::<Calls>().0.iter();
    let described = calls.map(|call| {
        let (kind, data) = match &call.message {
            Some((kind, data)) => (Value::from(*kind), data.clone()),
            None => (Value::Nil, Value::Nil),
        };
        Value::dict([
            ("kind", call.kind.into()),
            ("url", call.url.clone().into()),
            ("handle", call.handle.clone().into()),
            ("type", kind),
            ("data", data),
        ])
    });
    Ok(described.collect())
}
