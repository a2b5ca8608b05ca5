//! Tools: what a model may ask to be done.
//!
//! ```text
//! tool_define ──► registry ─┬─► tool_find, tool_select …   registries again
//!                           ├─► tool_describe, tool_prompt  for people and models
//!                           ├─► tool_schema                 for other programs
//!                           └─► tool_bind                   for the task, see `bound`
//! ```
//!
//! Nothing here calls a tool: that is for the loop of an agent, which also knows whether tools
//! fit its prompts and policies.

mod bound;
mod calls;
mod define;
mod describe;
mod schema;

use harn_machine::{Context, Failure, Registry, Value};

use crate::registries::TOOLS;

pub use bound::bound_tools;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("tool_bind", bound::tool_bind),
        ("__tools_bind_loop", bound::bind_loop),
        ("__tools_of_child", bound::of_child),
        ("__tools_unbind_loop", bound::unbind_loop),
        ("tool_count", tool_count),
        ("tool_def", bound::tool_def),
        ("tool_define", define::tool_define),
        ("tool_describe", describe::tool_describe),
        ("tool_find", tool_find),
        ("tool_format_result", calls::tool_format_result),
        ("tool_list", tool_list),
        ("tool_parse_call", calls::tool_parse_call),
        ("tool_prompt", describe::tool_prompt),
        ("tool_ref", bound::tool_ref),
        ("tool_registry", tool_registry),
        ("tool_remove", tool_remove),
        ("tool_schema", schema::tool_schema),
        ("tool_select", tool_select),
    ]);
}

fn tool_registry(_: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(TOOLS.empty())
}

fn tool_count(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    TOOLS.count("tool_count", arguments)
}

fn tool_find(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    TOOLS.find("tool_find", arguments)
}

fn tool_remove(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    TOOLS.remove("tool_remove", arguments)
}

fn tool_select(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    TOOLS.select("tool_select", arguments)
}

/// `tool_list(registry)`: what is told about tools, without what they do.
fn tool_list(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let registry = TOOLS.only("tool_list", arguments)?;
    let entries = TOOLS.entries(&registry).cloned().map(|mut entry| {
        entry.remove("handler");
        Value::Dict(entry)
    });
    Ok(entries.collect())
}
