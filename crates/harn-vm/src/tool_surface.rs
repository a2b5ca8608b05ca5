//! `tool_surface_validate`: the agent's own check of its tools, for programs.
//!
//! Closures become null on the way, which changes nothing: what a tool does is not looked at,
//! only what is said about it.

use harn_agent::surface::answer;
use harn_machine::{Context, Failure, Registry, Value, argument};

use crate::json::{from_json, to_json};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[("tool_surface_validate", tool_surface_validate)]);
}

/// `tool_surface_validate(surface?, options?)`
fn tool_surface_validate(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let surface = to_json(argument(arguments, 0));
    let options = to_json(argument(arguments, 1));
    let bound = match surface.is_null() {
        true => harn_stdlib::bound_tools(context),
        false => None,
    };
    let bound = bound.map(|registry| to_json(&registry.into()));
    Ok(from_json(&answer(&surface, &options, bound.as_ref())))
}
