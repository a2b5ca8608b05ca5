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

/// About what a value takes while it is read.
const VALUE_BYTES: usize = 96;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("yaml_parse", yaml_parse),
        ("yaml_stringify", yaml_stringify),
    ]);
}

fn yaml_parse(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = text(arguments, 0);
    // Each value needs one of these at least.
    let is_mark = |octet: &u8| matches!(octet, b',' | b'[' | b'{' | b':' | b'-' | b'\n');
    let marks = text
        .as_bytes()
        .iter()
        .copied()
        .filter(|octet| is_mark(octet));
    context.reserve(marks.count().saturating_mul(VALUE_BYTES))?;
    read::read(&text).map_err(Fault::thrown)
}

fn yaml_stringify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match write::write(argument(arguments, 0)) {
        Ok(text) => Ok(text.into()),
        Err(reason) => Err(Fault::thrown(format!("yaml_stringify: {reason}"))),
    }
}

#[cfg(test)]
mod tests;
