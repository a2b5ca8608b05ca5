//! JSON.
//!
//! ```text
//! text ─► parse ─► value ─► write ─► text
//! prose ─► extract ─► text
//! value + pointer ─► value
//! value + query ─► values
//! ```
//!
//! Values nest as deeply as memory allows, so reading and writing keep a list of what is open
//! instead of recursing.

mod building;
mod extract;
mod indented;
mod parse;
mod pointer;
mod query;
mod scan;
mod write;

use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use crate::expect::text;

pub(crate) use indented::{Members, indented, new_line};
pub(crate) use parse::parse;
#[cfg(test)]
pub(crate) use query::query;
pub(crate) use write::{write, write_text};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("json_extract", json_extract),
        ("json_parse", json_parse),
        ("json_stringify", json_stringify),
    ]);
    pointer::register(registry);
    query::register(registry);
}

fn json_parse(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("json_parse", arguments, 1)?;
    match parse::parse_within(&text(arguments, 0), context.budget())? {
        Ok(value) => Ok(value),
        Err(reason) => thrown(format!("JSON parse error: {reason}")),
    }
}

fn json_stringify(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("json_stringify", arguments, 1)?;
    let mut out = String::new();
    let may_grow = &mut |more: usize| {
        context.reserve(more)?;
        context.budget().read(write::ASKED_BYTES)
    };
    write::write_within(argument(arguments, 0), &mut out, may_grow)?;
    Ok(out.into())
}

fn json_extract(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("json_extract requires at least 1 argument: text");
    }
    let prose = text(arguments, 0);
    let value = match parse::parse_within(extract::found(&prose), context.budget())? {
        Ok(value) => value,
        Err(reason) => return thrown(format!("json_extract: failed to parse JSON: {reason}")),
    };
    let key = match argument(arguments, 1) {
        Value::Nil => return Ok(value),
        key => key.to_text(),
    };
    match value {
        Value::Dict(dict) => match dict.get_text(&key) {
            Some(value) => Ok(value.clone()),
            None => thrown(format!("json_extract: key '{key}' not found")),
        },
        _ => thrown("json_extract: parsed value is not a dict, cannot extract key"),
    }
}

/// Throws if there are too few arguments.
pub(crate) fn require(function: &str, arguments: &[Value], count: usize) -> Result<(), Failure> {
    if arguments.len() >= count {
        return Ok(());
    }
    thrown(format!("{function} requires {count} arguments"))
}
