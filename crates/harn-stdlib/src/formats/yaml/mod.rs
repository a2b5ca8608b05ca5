//! YAML 1.2.
//!
//! ```text
//! text ─► events ─► read ─► value ─► write ─► text
//!                    └─ scalar ─┘  what a word means without quotes
//! ```
//!
//! What has no form in JSON (keys that are lists, tags of somebody's own) is refused, and
//! merge keys are keys like any other.

mod read;
mod scalar;
mod write;

pub(super) use read::read;

use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("yaml_parse", yaml_parse),
        ("yaml_stringify", yaml_stringify),
    ]);
}

fn yaml_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    read::read(&text(arguments, 0)).map_err(Fault::thrown)
}

fn yaml_stringify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match write::write(argument(arguments, 0)) {
        Ok(text) => Ok(text.into()),
        Err(reason) => Err(Fault::thrown(format!("yaml_stringify: {reason}"))),
    }
}

#[cfg(test)]
mod tests;
