//! Dates, clocks and durations.
//!
//! ```text
//! timestamp   seconds since 1970: an int if whole, else a float; what programs pass around
//! Moment      the same inside, exact to the microsecond
//! components  a dict of year, month, day … in a time zone
//! ```
//!
//! Everything that goes wrong here is thrown as text.

pub(crate) mod clock;
mod components;
mod durations;
mod moment;
mod parse;
mod zone;
mod zones;

use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use crate::expect::text;
use moment::moment_at;

pub(crate) use moment::iso8601;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("date_add", date_add),
        ("date_diff", date_diff),
        ("date_iso", |context, _| Ok(iso8601(context.now()).into())),
        ("date_now_iso", |context, _| {
            Ok(iso8601(context.now()).into())
        }),
        ("date_parse", date_parse),
    ]);
    clock::register(registry);
    components::register(registry);
    durations::register(registry);
    zones::register(registry);
}

fn date_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match parse::parse(&text(arguments, 0)) {
        Ok(value) => Ok(value),
        Err(problem) => thrown(problem),
    }
}

fn date_add(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let moment = moment_at("date_add", arguments, 0)?;
    let milliseconds = durations::duration_at("date_add", arguments, 1)?;
    match moment.plus(milliseconds) {
        Some(moment) => Ok(moment.timestamp()),
        None => thrown("date_add: timestamp out of range"),
    }
}

fn date_diff(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let one = moment_at("date_diff", arguments, 0)?;
    let other = moment_at("date_diff", arguments, 1)?;
    Ok(Value::Duration(one.since(other)))
}

/// A text argument, or nothing if it is nil or missing.
fn optional_text(arguments: &[Value], at: usize) -> Option<harn_machine::value::Text> {
    match argument(arguments, at) {
        Value::Nil => None,
        value => Some(value.to_text()),
    }
}
