//! What `std/waitpoint` calls.

use std::task::Poll;

use harn_machine::{Context, Failure, Fault, Registry, Value, Waiting, argument};

use super::book::Book;
use super::point::{Point, Status};
use super::{cancel, complete, create};
use crate::people::{field, new_id, patience};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__waitpoint_cancel", |context, arguments| {
            let id = known("cancel", context, argument(arguments, 0))?;
            let point = cancel(context, &id, argument(arguments, 1))?;
            ended("cancel", &point, Status::Cancelled)
        }),
        ("__waitpoint_complete", |context, arguments| {
            let id = known("complete", context, argument(arguments, 0))?;
            let value = argument(arguments, 1).clone();
            let point = complete(context, &id, value, argument(arguments, 2))?;
            ended("complete", &point, Status::Completed)
        }),
        ("__waitpoint_create", make),
    ]);
    registry.waiting(&[("__waitpoint_wait", wait)]);
}

fn fault<T>(function: &str, problem: &str) -> Result<T, Failure> {
    Err(Fault::runtime(format!("waitpoint.{function}: {problem}")))
}

fn make(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let given = argument(arguments, 0);
    let id = match given {
        Value::Nil => None,
        Value::Text(id) => Some(id.to_string()),
        Value::Dict(_) => field(given, "id").map(|id| id.to_text().to_string()),
        other => {
            let problem = format!("expected string id or dict, got {}", other.type_name());
            return fault("create", &problem);
        }
    };
    let id = id.filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| new_id(context, "waitpoint"));
    let metadata = field(given, "metadata").cloned().unwrap_or_default();
    Ok(create(context, &id, (Value::Nil, metadata))?.record())
}

/// The id of a handle.
fn id(function: &str, handle: &Value) -> Result<String, Failure> {
    match handle {
        Value::Text(id) => Ok(id.to_string()),
        Value::Nil => fault(function, "missing waitpoint handle"),
        Value::Dict(_) => match field(handle, "id") {
            Some(id) => Ok(id.to_text().to_string()),
            None => fault(function, "missing waitpoint handle"),
        },
        other => {
            let problem = format!(
                "expected waitpoint id string or dict, got {}",
                other.type_name()
            );
            fault(function, &problem)
        }
    }
}

/// The id of a waitpoint that somebody has made.
fn known(function: &str, context: &mut Context<'_>, handle: &Value) -> Result<String, Failure> {
    let id = id(function, handle)?;
    match Book::current(context)?.point(&id) {
        Some(_) => Ok(id),
        None => fault(function, &format!("unknown waitpoint '{id}'")),
    }
}

/// A waitpoint that has ended as it should.
fn ended(function: &str, point: &Point, wanted: Status) -> Result<Value, Failure> {
    if point.status == wanted {
        return Ok(point.record());
    }
    let (id, status) = (&point.id, point.status.name());
    fault(function, &format!("waitpoint '{id}' is already {status}"))
}

/// A wait that goes on.
struct Wait {
    ids: Vec<String>,
    /// Whether a list was given, so that a list is wanted.
    is_list: bool,
}

/// `wait(handle | list, {timeout}?)`: what was waited for.
fn wait(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.note.is_none() {
        let wait = begin(context, arguments, waiting)?;
        waiting.note = Some(Box::new(wait));
        waiting.stops_at_once = true;
    }
    loop {
        let wait = waiting.note.as_ref().and_then(|note| note.downcast_ref());
        let wait: &Wait = wait.expect("it was noted above");
        let outcome = outcome(context, wait)?;
        if outcome.is_pending() && waiting.is_over(context) {
            waiting.give_up(context);
            return Err(timed_out(context));
        }
        if let Poll::Ready(outcome) = outcome {
            waiting.give_up(context);
            return outcome.map(Poll::Ready);
        }
        if Book::wait_for_change(context, waiting)?.is_pending() {
            return Ok(Poll::Pending);
        }
    }
}

fn begin(
    context: &mut Context<'_>,
    arguments: &[Value],
    waiting: &mut Waiting,
) -> Result<Wait, Failure> {
    let ids = match argument(arguments, 0) {
        Value::List(handles) => {
            let ids = handles.iter().map(|handle| id("wait", handle));
            ids.collect::<Result<Vec<_>, _>>()?
        }
        handle => vec![id("wait", handle)?],
    };
    if ids.is_empty() {
        return fault("wait", "expected at least one waitpoint");
    }
    if let Some(timeout) = field(argument(arguments, 1), "timeout") {
        let Some(timeout) = patience(timeout) else {
            return fault("wait", "expected a duration or millisecond count");
        };
        waiting.set_timeout(context, timeout);
    }
    let is_list = matches!(argument(arguments, 0), Value::List(_));
    Ok(Wait { ids, is_list })
}

/// The records of all waitpoints once they are complete; fails as soon as one is cancelled.
fn outcome(
    context: &mut Context<'_>,
    wait: &Wait,
) -> Result<Poll<Result<Value, Failure>>, Failure> {
    let book = Book::current(context)?;
    let points = || wait.ids.iter().map(|id| book.point(id));
    let mut known = points().flatten();
    if let Some(point) = known.find(|point| point.status == Status::Cancelled) {
        let reason = point.reason.clone();
        return Ok(Poll::Ready(Err(cancelled(context, wait, reason))));
    }
    let is_done = |point: Option<&Point>| point.is_some_and(|it| it.status == Status::Completed);
    if !points().all(is_done) {
        return Ok(Poll::Pending);
    }
    let mut records = points().flatten().map(Point::record);
    let records = match wait.is_list {
        true => records.collect(),
        false => records.next().unwrap_or_default(),
    };
    Ok(Poll::Ready(Ok(records)))
}

fn timed_out(context: &mut Context<'_>) -> Failure {
    Fault::thrown(Value::dict([
        ("name", "WaitpointTimeoutError".into()),
        ("category", "timeout".into()),
        ("message", "waitpoint timed out".into()),
        ("wait_id", new_id(context, "waitpoint_wait").into()),
    ]))
}

fn cancelled(context: &mut Context<'_>, wait: &Wait, reason: Value) -> Failure {
    let message = match &reason {
        Value::Nil => "waitpoint was cancelled".into(),
        reason => reason.clone(),
    };
    let ids = wait.ids.iter().map(|id| id.as_str().into());
    Fault::thrown(Value::dict([
        ("name", "WaitpointCancelledError".into()),
        ("category", "cancelled".into()),
        ("message", message),
        ("wait_id", new_id(context, "waitpoint_wait").into()),
        ("waitpoint_ids", ids.collect()),
        ("reason", reason),
    ]))
}
