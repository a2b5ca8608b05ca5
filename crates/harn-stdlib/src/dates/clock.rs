//! The clocks, and what tests put in their place.

use std::task::Poll;

use harn_machine::{Context, Failure, Registry, Value, Waiting, argument, thrown};

use crate::expect::int_or;
use crate::tasks::sleep;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("advance_time", advance_time),
        ("elapsed", |context, _| Ok(Value::Int(elapsed_ms(context)))),
        ("mock_time", mock_time),
        ("monotonic_ms", |context, _| {
            Ok(Value::Int(elapsed_ms(context)))
        }),
        ("now_ms", |context, _| Ok(Value::Int(now_ms(context)))),
        ("timestamp", |context, _| {
            Ok(Value::Float(now_ms(context) as f64 / 1000.0))
        }),
        ("unmock_time", unmock_time),
    ]);
    registry.waiting(&[("sleep_ms", sleep_ms)]);
}

/// What the clocks of a run begin with, and what they show instead.
#[derive(Default)]
struct Clock {
    /// When somebody first asked how much time has gone by.
    start: Option<i64>,
    mock: Option<Mock>,
}

/// A clock that stands still until it is told to go on.
#[derive(Clone, Copy)]
struct Mock {
    now: i64,
    elapsed: i64,
}

/// Milliseconds since 1970 by the clock that programs may mock.
pub fn now_ms(context: &mut Context<'_>) -> i64 {
    match context.state::<Clock>().mock {
        Some(mock) => mock.now,
        None => context.now(),
    }
}

/// Milliseconds by a clock that is never set, from its first use on.
pub(crate) fn elapsed_ms(context: &mut Context<'_>) -> i64 {
    if let Some(mock) = context.state::<Clock>().mock {
        return mock.elapsed;
    }
    let now = context.elapsed();
    let start = *context.state::<Clock>().start.get_or_insert(now);
    now - start
}

/// Lets a mocked clock go on; gives its new time, or nothing if there is none.
pub(crate) fn advance(context: &mut Context<'_>, milliseconds: i64) -> Option<i64> {
    let mock = context.state::<Clock>().mock.as_mut()?;
    mock.now = mock.now.saturating_add(milliseconds);
    mock.elapsed = mock.elapsed.saturating_add(milliseconds);
    Some(mock.now)
}

fn mock_time(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Int(now) = argument(arguments, 0) else {
        return thrown("mock_time(ms): expected an integer millisecond timestamp");
    };
    let mock = Mock {
        now: *now,
        elapsed: 0,
    };
    context.state::<Clock>().mock = Some(mock);
    Ok(Value::Nil)
}

fn advance_time(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match advance(context, milliseconds(arguments)) {
        Some(now) => Ok(Value::Int(now)),
        None => thrown("advance_time: no mock active. Call mock_time(ms) first."),
    }
}

fn unmock_time(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    context.state::<Clock>().mock = None;
    Ok(Value::Nil)
}

/// A duration, or a number of milliseconds.
fn milliseconds(arguments: &[Value]) -> i64 {
    match argument(arguments, 0) {
        Value::Duration(milliseconds) => *milliseconds,
        _ => int_or(arguments, 0, 0),
    }
}

fn sleep_ms(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if !waiting.is_resumed() && advance(context, milliseconds(arguments).max(0)).is_some() {
        return Ok(Poll::Ready(Value::Nil));
    }
    sleep(context, arguments, waiting)
}
