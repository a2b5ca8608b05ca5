//! What a program asks of its host.
//!
//! ```text
//! host_call("capability.operation", params)
//!     ─► mocks        what a test puts in the place of an answer
//!     ─► bridge       what the host of this run lends
//!     ─► operations   what every host can do: processes, templates, a question, this run
//! ```
//!
//! A host with abilities of its own is attached by the layers above; a plain script has none.

mod bridge;
mod capabilities;
mod exec;
mod mocks;
mod operations;
mod shells;

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, Waiting, argument, thrown};

use crate::expect::text;
use bridge::Lent;

pub use bridge::EFFECT;
pub(crate) use mocks::answered;
pub(crate) use shells::selected_path;

pub(crate) fn register(registry: &mut Registry) {
    // A policy may decide about commands first; see `command_policy`.
    registry.waiting(&[
        ("__host_builtin", bridge::builtin_call),
        ("__host_call", host_call),
        ("host_tool_call", bridge::tool_call),
        ("host_tool_list", bridge::tool_list),
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
    let given = Value::Dict(params.clone());
    match bridge::operation(context, waiting, &name, &given)? {
        Poll::Pending => return Ok(Poll::Pending),
        Poll::Ready(Lent::Done(value)) => return Ok(Poll::Ready(value)),
        Poll::Ready(Lent::Lacking) => {}
    }
    operations::perform(context, capability, operation, &Params(params), waiting)
}
