//! Asking people, and waiting for what happens elsewhere.
//!
//! ```text
//! waitpoints   things to wait for: open, then completed or cancelled
//! hitl         questions to people; each is a waitpoint too
//! monitors     asking a source again and again; written in Harn
//! ```
//!
//! What is known about them is kept in the event log, so that whoever reads the log knows it
//! too: another task, another process, or the program after a restart.

mod hitl;
mod monitors;
mod waitpoints;

use harn_machine::{Context, Registry, Value};

use crate::dates::clock::now_ms;
use crate::dates::iso8601;
use crate::random::octets;
use crate::uuid_of_time;

/// The kind of effects that tell others of people who are asked.
pub const EFFECT: &str = "people";

pub(crate) fn register(registry: &mut Registry) {
    registry.file("people", include_str!("../../harn/people.harn"));
    hitl::register(registry);
    monitors::register(registry);
    waitpoints::register(registry);
}

/// The time as records show it.
fn now(context: &mut Context<'_>) -> String {
    iso8601(now_ms(context))
}

/// An id that nobody else has.
fn new_id(context: &mut Context<'_>, kind: &str) -> String {
    let (now, random) = (context.now(), octets(context));
    format!("{kind}_{}", uuid_of_time(now, random))
}

/// A field of options that is there.
pub(crate) fn field<'a>(options: &'a Value, name: &str) -> Option<&'a Value> {
    match options {
        Value::Dict(options) => options.get(name).filter(|value| !value.is_nil()),
        _ => None,
    }
}

/// A time to wait: a duration, or a count of milliseconds.
fn patience(given: &Value) -> Option<i64> {
    match given {
        Value::Int(time) | Value::Duration(time) if *time >= 0 => Some(*time),
        _ => None,
    }
}
