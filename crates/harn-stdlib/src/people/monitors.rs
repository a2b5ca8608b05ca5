//! What the waiting in `harn/people.harn` asks about a monitor.

use std::task::Poll;

use harn_machine::{Context, Failure, Fault, Registry, Value, Waiting, argument};

use super::{field, new_id, now, patience};
use crate::dates::clock::advance;
use crate::expect::int_or;
use crate::observability::event_log;

/// Where the log keeps the events that come from outside.
const INBOX: &str = "trigger.inbox";

/// So many events are read at a time.
const BATCH: usize = 128;

/// How long to wait between two polls unless the program says otherwise.
const POLL_INTERVAL_MS: i64 = 10_000;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__monitor_options", options),
        ("__people_now", |context, _| Ok(now(context).into())),
    ]);
    registry.waiting(&[("__monitor_pushes", pushes)]);
    let written_in_harn = "monitor_wait_for_native";
    registry.harn("people", &[(written_in_harn, written_in_harn)]);
}

fn fault<T>(problem: &str) -> Result<T, Failure> {
    let problem = format!("monitor_wait_for_native: {problem}");
    Err(Fault::runtime(problem))
}

/// A time in milliseconds.
fn time(given: &Value) -> Result<i64, Failure> {
    let kind = given.type_name();
    let wanted = "expected duration or non-negative millisecond count";
    patience(given).map_or_else(|| fault(&format!("{wanted}, got {kind}")), Ok)
}

/// What is to be waited for, with all that the program has left out.
fn options(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let given = argument(arguments, 0);
    if !matches!(given, Value::Dict(_)) {
        return fault(&format!("expected dict options, got {}", given.type_name()));
    }
    let Some(source) = field(given, "source") else {
        return fault("source is required");
    };
    let condition = field(given, "condition").cloned().unwrap_or_default();
    if !condition.is_callable() {
        return fault("condition must be a closure");
    }
    let Some(timeout) = field(given, "timeout") else {
        return fault("timeout is required");
    };
    let timeout = time(timeout)?;
    let interval = field(given, "poll_interval").map_or(Ok(POLL_INTERVAL_MS), time)?;
    if interval == 0 {
        return fault("poll_interval must be greater than zero");
    }
    let (label, poll, filter) = read_source(source)?;
    let wait_id = match field(given, "wait_id") {
        Some(id) => id.to_text().to_string(),
        None => new_id(context, "monitor_wait"),
    };
    let cursor = match filter {
        Value::Nil => 0,
        _ => event_log::last(context, INBOX)?,
    };
    Ok(Value::dict([
        ("wait_id", wait_id.into()),
        ("cursor", cursor.into()),
        ("label", label),
        ("poll", poll),
        ("push_filter", filter),
        ("condition", condition),
        ("timeout_ms", timeout.into()),
        ("interval_ms", interval.into()),
    ]))
}

/// The label of a source, the function that polls it, and the one that looks at events if
/// events are preferred.
fn read_source(source: &Value) -> Result<(Value, Value, Value), Failure> {
    if source.is_callable() {
        return Ok((Value::Nil, source.clone(), Value::Nil));
    }
    if !matches!(source, Value::Dict(_)) {
        let kind = source.type_name();
        return fault(&format!("source must be a closure or dict, got {kind}"));
    }
    let function = |name: &str| field(source, name).filter(|value| value.is_callable());
    let Some(poll) = function("poll") else {
        return fault("source.poll must be a closure");
    };
    let prefers_push = field(source, "prefers_push").is_some_and(Value::is_truthy);
    let filter = function("push_filter").filter(|_| prefers_push);
    let label = field(source, "label").map(Value::to_text);
    Ok((label.into(), poll.clone(), filter.cloned().into()))
}

/// Events that came after a cursor, or none if none come in time.
fn pushes(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let cursor = int_or(arguments, 0, 0);
    let window = int_or(arguments, 1, 0);
    if !waiting.is_resumed() {
        let events = event_log::read(context, INBOX, cursor, BATCH)?;
        // A mocked clock does not go on by itself, so nobody waits for it.
        if !events.is_empty() || advance(context, window).is_some() {
            return Ok(Poll::Ready(Value::list(events)));
        }
        waiting.set_timeout(context, window);
        waiting.stops_at_once = true;
    }
    if let Poll::Ready(events) = event_log::wait(context, waiting, INBOX, cursor)? {
        return Ok(Poll::Ready(events));
    }
    if !waiting.is_over(context) {
        return Ok(Poll::Pending);
    }
    waiting.give_up(context);
    Ok(Poll::Ready(Value::list(Vec::new())))
}
