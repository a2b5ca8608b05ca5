//! Files that agents keep for each other: what `std/agent_state` is made of.
//!
//! ```text
//! <root>/<session>/<key>             what was written
//! <root>/<session>/.writers/<key>    who wrote it last, if that was told
//! ```
//!
//! A handle is a dict, so it can be passed on and kept; everything is in the files.

mod files;
mod handle;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::dates::clock::now_ms;
use crate::expect::text;
use handle::{Handle, Key};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__agent_state_delete", delete),
        ("__agent_state_handoff", handoff),
        ("__agent_state_init", init),
        ("__agent_state_list", list),
        ("__agent_state_read", read),
        ("__agent_state_resume", resume),
        ("__agent_state_write", write),
    ]);
}

/// Where a handoff is kept.
const HANDOFF_KEY: &str = "__handoff.json";

/// `__agent_state_init(arguments, session_id)`: what it was called with, and the session if
/// none is named.
fn init(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = handle::of_arguments(arguments)?;
    files::make(context, &handle)?;
    Ok(handle.described())
}

/// `__agent_state_resume(root, session_id, options)`
fn resume(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (root, session) = (text(arguments, 0), text(arguments, 1));
    let handle = Handle::new("resume", root, session, argument(arguments, 2))?;
    if !files::exists(context, &handle) {
        let Handle { root, session, .. } = &handle;
        let message = format!("agent_state.resume: session '{session}' not found in '{root}'");
        return Err(Fault::runtime(message));
    }
    Ok(handle.described())
}

/// `__agent_state_write(handle, key, text)`
fn write(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (handle, key) = handle_and_key("write", arguments)?;
    files::write(context, &handle, &key, &text(arguments, 2))?;
    Ok(Value::Nil)
}

/// `__agent_state_read(handle, key)`
fn read(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (handle, key) = handle_and_key("read", arguments)?;
    Ok(files::read(context, &handle, &key)?.into())
}

/// `__agent_state_list(handle)`
fn list(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = Handle::read("list", argument(arguments, 0))?;
    let keys = files::list(context, &handle);
    Ok(keys.into_iter().map(Value::from).collect())
}

/// `__agent_state_delete(handle, key)`
fn delete(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (handle, key) = handle_and_key("delete", arguments)?;
    files::delete(context, &handle, &key)?;
    Ok(Value::Nil)
}

/// `__agent_state_handoff(handle, summary, handoff)`
fn handoff(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = Handle::read("handoff", argument(arguments, 0))?;
    let summary = argument(arguments, 1);
    if !matches!(summary, Value::Dict(_)) {
        let message = "__agent_state_handoff: `summary` must be a JSON object";
        return Err(Fault::runtime(message));
    }
    let record = Value::dict([
        ("_type", "agent_state_handoff".into()),
        ("handoff", argument(arguments, 2).clone()),
        ("key", HANDOFF_KEY.into()),
        ("root", handle.root.clone().into()),
        ("session_id", handle.session.clone().into()),
        ("summary", summary.clone()),
        ("version", Value::Int(1)),
        ("writer", handle.writer()),
        ("written_at", now_ms(context).div_euclid(1000).into()),
    ]);
    let record = super::encoding::indented(&record, 0);
    let key = Key::new("handoff", HANDOFF_KEY)?;
    files::write(context, &handle, &key, &Text::from(record))?;
    Ok(Value::Nil)
}

fn handle_and_key(function: &str, arguments: &[Value]) -> Result<(Handle, Key), Failure> {
    let handle = Handle::read(function, argument(arguments, 0))?;
    let key = Key::new(function, &text(arguments, 1))?;
    Ok((handle, key))
}
