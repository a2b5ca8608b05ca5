//! Tasks: waiting for them, stopping them, and letting time pass.
//!
//! Starting tasks is the machine's; here is what a program does with their handles. How long
//! somebody is ready to wait is read in `patience`, for locks, channels and the others too.

mod patience;

use std::task::Poll;

use harn_machine::{Context, Failure, Registry, Task, Value, Waiting, argument, take};

pub(crate) use patience::{milliseconds, patience};

/// How long `cancel_graceful` waits unless it is told.
const GRACE_MS: i64 = 5000;

/// What `cancel_graceful` says of a task that did not end in time.
const ABORTED: &str = "cancel_graceful: timeout, task forcefully aborted";

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[("cancel", cancel), ("is_cancelled", is_cancelled)]);
    registry.waiting(&[
        ("await", wait_for),
        ("cancel_graceful", cancel_graceful),
        ("sleep", sleep),
    ]);
}

/// `await(task)`: its value, with its output in ours. What is no task is its own value.
fn wait_for(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Value::Task(task) = argument(arguments, 0) else {
        return Ok(Poll::Ready(take(arguments, 0)));
    };
    if !task.is_over() {
        waiting.on(&task.waiters, context);
        return Ok(Poll::Pending);
    }
    let Some((result, output)) = task.take_end() else {
        return Ok(Poll::Ready(Value::Nil));
    };
    let value = result?;
    context.write(&output);
    Ok(Poll::Ready(value))
}

fn cancel(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Value::Task(task) = argument(arguments, 0) {
        context.stop(task);
    }
    Ok(Value::Nil)
}

/// `cancel_graceful(task, timeout = 5000ms)`
fn cancel_graceful(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Value::Task(task) = argument(arguments, 0) else {
        return Ok(Poll::Ready(Value::Nil));
    };
    if task.is_over() {
        return Ok(Poll::Ready(end_as_result(task)));
    }
    if !waiting.is_resumed() {
        let timeout = patience(argument(arguments, 1)).unwrap_or(GRACE_MS);
        waiting.set_timeout(context, timeout);
        context.request_stop(task);
    } else if waiting.is_over(context) {
        context.stop(task);
        return Ok(Poll::Ready(Value::err(ABORTED.into())));
    }
    waiting.on(&task.waiters, context);
    Ok(Poll::Pending)
}

/// How a task that is over has ended. Of one that was awaited or stopped nothing is known.
fn end_as_result(task: &Task) -> Value {
    match task.take_end() {
        None => Value::ok(Value::Nil),
        Some((Ok(value), _)) => Value::ok(value),
        Some((Err(failure), _)) => Value::err(failure.text().into()),
    }
}

fn is_cancelled(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(context.strand().is_cancelled().into())
}

/// `sleep(d)`: others run meanwhile, also if it is for no time at all.
pub(crate) fn sleep(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.is_resumed() && waiting.is_over(context) {
        return Ok(Poll::Ready(Value::Nil));
    }
    let time = milliseconds(argument(arguments, 0)).unwrap_or(0);
    waiting.set_timeout(context, time);
    waiting.stops_at_once = true;
    Ok(Poll::Pending)
}
