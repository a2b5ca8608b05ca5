//! What a program asks of its host.
//!
//! ```text
//! host_call("capability.operation", params)
//!     ─► mocks        what a test puts in the place of an answer
//!     ─► operations   what every host can do: processes, templates, a question, this run
//! ```
//!
//! A host with abilities of its own is attached by the layers above; a plain script has none.

mod capabilities;
mod exec;
mod mocks;
mod operations;
mod shells;

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, Waiting, argument, thrown};

use crate::expect::text;

pub(crate) use mocks::answered;
pub(crate) use shells::selected_path;

pub(crate) fn register(registry: &mut Registry) {
    // A policy may decide about commands first; see `command_policy`.
    registry.waiting(&[("__host_call", host_call)]);
    registry.plain(&[
        ("host_tool_call", host_tool_call),
        ("host_tool_list", |_, _| Ok(Value::list(Vec::new()))),
    ]);
    capabilities::register(registry);
    mocks::register(registry);
}

/// What an operation is called with.
struct Params(Dict);

impl Params {
    /// A parameter, if it is there.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_nil())
    }

    /// The first of some parameters that is there, as text.
    fn text(&self, names: &[&str]) -> Option<Text> {
        let mut values = names.iter().filter_map(|name| self.get(name));
        values.next().map(Value::to_text)
    }

    /// The same for one that must be there.
    fn required(&self, names: &[&str]) -> Result<Text, Failure> {
        self.text(names).map_or_else(
            || {
                let name = names.first().copied().unwrap_or_default();
                thrown(format!("host_call: missing required parameter '{name}'"))
            },
            Ok,
        )
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(Value::is_truthy)
    }
}

/// `host_call("capability.operation", params = {})`
fn host_call(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let name = text(arguments, 0);
    let Some((capability, operation)) = name.split_once('.') else {
        return thrown(format!("host_call: unsupported operation name '{name}'"));
    };
    let params = match argument(arguments, 1) {
        Value::Dict(params) => params.clone(),
        _ => Dict::default(),
    };
    // Whoever waits was not answered by a mock.
    if !waiting.is_resumed()
        && let Some(answer) = answered(context, capability, operation, &params)
    {
        return answer.map(Poll::Ready);
    }
    operations::perform(context, capability, operation, &Params(params), waiting)
}

/// `host_tool_call(name, arguments)`
fn host_tool_call(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let is_named = match argument(arguments, 0) {
        Value::Text(name) => !name.is_empty(),
        _ => false,
    };
    match is_named {
        true => thrown("host_tool_call: no host bridge is attached"),
        false => thrown("host_tool_call: tool name is required"),
    }
}
