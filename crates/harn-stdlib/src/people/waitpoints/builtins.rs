//! `waitpoint_create`, `waitpoint_complete`, `waitpoint_cancel` and `waitpoint_wait`.

use std::task::Poll;

use harn_machine::{Context, Failure, Fault, Registry, Value, Waiting, argument};

use super::book::{Book, remember};
use super::point::{Point, Status};
use super::{cancel, complete, create};
use crate::people::{field, new_id, now, patience};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("waitpoint_cancel", |context, arguments| {
            let id = target("waitpoint_cancel", arguments)?;
            let options = options("waitpoint_cancel", arguments)?;
            Ok(cancel(context, &id, options)?.handle())
        }),
        ("waitpoint_complete", |context, arguments| {
            let id = target("waitpoint_complete", arguments)?;
            let options = options("waitpoint_complete", arguments)?;
            Ok(complete(context, &id, Value::Nil, options)?.handle())
        }),
        ("waitpoint_create", make),
    ]);
    registry.waiting(&[("waitpoint_wait", wait)]);
}

fn make(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let given = argument(arguments, 0);
    let id = match given {
        Value::Nil => None,
        Value::Text(id) => Some(id.to_string()),
        Value::Dict(_) => field(given, "id").map(|id| id.to_text().to_string()),
        other => {
            return Err(Fault::runtime(format!(
                "waitpoint_create: expected string or dict, got {}",
                other.type_name()
            )));
        }
    };
    let id = id.filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| new_id(context, "waitpoint"));
    let by = field(given, "by").map(Value::to_text).into();
    let metadata = field(given, "metadata").cloned().unwrap_or_default();
    Ok(create(context, &id, (by, metadata))?.handle())
}

/// The ids that an argument names.
fn targets(builtin: &str, target: &Value) -> Result<Vec<String>, Failure> {
    let problem = match target {
        Value::Text(id) => return Ok(vec![id.to_string()]),
        Value::Dict(_) => match field(target, "id") {
            Some(id) => return Ok(vec![id.to_text().to_string()]),
            None => "waitpoint handle must include id",
        },
        Value::List(items) if items.iter().any(|item| matches!(item, Value::List(_))) => {
            "expected a waitpoint id, handle, or list"
        }
        Value::List(items) => {
            let ids = items.iter().map(|item| targets(builtin, item));
            return Ok(ids.collect::<Result<Vec<_>, _>>()?.concat());
        }
        _ => "expected a waitpoint id, handle, or list",
    };
    Err(Fault::runtime(format!("{builtin}: {problem}")))
}

/// The one id that the first argument names.
fn target(builtin: &str, arguments: &[Value]) -> Result<String, Failure> {
    let ids = match argument(arguments, 0) {
        Value::Nil => Vec::new(),
        target => targets(builtin, target)?,
    };
    let id = ids.into_iter().next();
    id.ok_or_else(|| Fault::runtime(format!("{builtin}: expected a waitpoint id")))
}

fn options<'a>(builtin: &str, arguments: &'a [Value]) -> Result<&'a Value, Failure> {
    match argument(arguments, 1) {
        options @ (Value::Nil | Value::Dict(_)) => Ok(options),
        other => Err(Fault::runtime(format!(
            "{builtin}: expected dict options, got {}",
            other.type_name()
        ))),
    }
}

/// A wait that goes on.
struct Wait {
    id: String,
    targets: Vec<String>,
    started_at: String,
}

/// `waitpoint_wait(target, options?)`: how the wait ended.
fn wait(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if waiting.note.is_none() {
        let wait = begin(context, arguments, waiting)?;
        if let Some(known) = Book::current(context)?.wait(&wait.id) {
            return Ok(Poll::Ready(known.clone()));
        }
        waiting.note = Some(Box::new(wait));
        waiting.stops_at_once = true;
    }
    loop {
        let wait = waiting.note.as_ref().and_then(|note| note.downcast_ref());
        let wait: &Wait = wait.expect("it was noted above");
        let end = match (how_it_ended(context, wait)?, waiting.is_over(context)) {
            (Some(end), _) => Some(end),
            (None, true) => Some(End::Late),
            (None, false) => None,
        };
        if let Some(end) = end {
            let result = described(context, wait, &end)?;
            remember(context, &wait.id, &result)?;
            waiting.give_up(context);
            return Ok(Poll::Ready(result));
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
    let builtin = "waitpoint_wait";
    if arguments.is_empty() {
        return Err(Fault::runtime(format!(
            "{builtin}: expected a waitpoint id"
        )));
    }
    let targets = targets(builtin, argument(arguments, 0))?;
    if targets.is_empty() {
        let problem = format!("{builtin}: expected at least one waitpoint id");
        return Err(Fault::runtime(problem));
    }
    let options = options(builtin, arguments)?;
    if let Some(timeout) = field(options, "timeout") {
        let Some(timeout) = patience(timeout) else {
            let problem = format!("{builtin}: expected timeout duration or millisecond count");
            return Err(Fault::runtime(problem));
        };
        waiting.set_timeout(context, timeout);
    }
    let id = match field(options, "wait_id") {
        Some(id) => id.to_text().to_string(),
        None => new_id(context, "waitpoint_wait"),
    };
    Ok(Wait {
        id,
        targets,
        started_at: now(context),
    })
}

/// How a wait ends.
enum End {
    Completed,
    Cancelled(Point),
    Late,
}

fn how_it_ended(context: &mut Context<'_>, wait: &Wait) -> Result<Option<End>, Failure> {
    let book = Book::current(context)?;
    let points = || wait.targets.iter().map(|id| book.point(id));
    let mut cancelled = points().flatten();
    if let Some(point) = cancelled.find(|point| point.status == Status::Cancelled) {
        return Ok(Some(End::Cancelled(point.clone())));
    }
    let is_done = |point: Option<&Point>| point.is_some_and(|it| it.status == Status::Completed);
    Ok(points().all(is_done).then_some(End::Completed))
}

fn described(context: &mut Context<'_>, wait: &Wait, end: &End) -> Result<Value, Failure> {
    let (status, cancelled, reason) = match end {
        End::Completed => ("completed", Value::Nil, Value::Nil),
        End::Cancelled(point) => ("cancelled", point.id.as_str().into(), point.reason.clone()),
        End::Late => ("timed_out", Value::Nil, "deadline elapsed".into()),
    };
    let resolved_at = now(context);
    let book = Book::current(context)?;
    let points = wait.targets.iter().filter_map(|id| book.point(id));
    let points: Value = points.map(Point::handle).collect();
    let ids = wait.targets.iter().map(|id| id.as_str().into());
    Ok(Value::dict([
        ("wait_id", wait.id.as_str().into()),
        ("waitpoint_ids", ids.collect()),
        ("status", status.into()),
        ("started_at", wait.started_at.as_str().into()),
        ("resolved_at", resolved_at.into()),
        ("waitpoints", points),
        ("cancelled_waitpoint_id", cancelled),
        ("trace_id", Value::Nil),
        ("replay_of_event_id", Value::Nil),
        ("reason", reason),
    ]))
}
