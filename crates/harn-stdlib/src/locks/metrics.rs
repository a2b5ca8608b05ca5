//! How locks are used.

use harn_machine::{Context, Failure, Value, argument};

use super::line::Line;
use super::settle;

/// `sync_metrics(kind, key)`: the numbers of one lock, or of all that match.
pub(super) fn metrics(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let locks = settle(context);
    let wanted = |at: usize| match argument(arguments, at) {
        Value::Nil => None,
        value => Some(value.to_text()),
    };
    let (kind, key) = (wanted(0), wanted(1));
    let lines = locks.lines.borrow();
    let matching = lines.iter().filter(|((of_kind, of_key), _)| {
        kind.as_ref().is_none_or(|kind| kind.as_str() == *of_kind)
            && key.as_ref().is_none_or(|key| key == of_key)
    });
    let mut numbers = matching.map(|((kind, key), line)| describe(kind, key, &line.borrow()));
    Ok(match (&kind, &key) {
        (Some(_), Some(_)) => numbers.next().into(),
        _ => numbers.collect(),
    })
}

fn describe(kind: &str, key: &str, line: &Line) -> Value {
    let counts = &line.counts;
    Value::dict([
        ("acquisition_count", counts.acquisitions.into()),
        ("cancellation_count", counts.cancellations.into()),
        ("capacity", line.capacity.into()),
        ("current_held", line.held.into()),
        ("current_queue_depth", line.length().into()),
        ("key", key.into()),
        ("kind", kind.into()),
        ("max_queue_depth", counts.longest_line.into()),
        ("release_count", counts.releases.into()),
        ("timeout_count", counts.timeouts.into()),
        ("total_held_ms", counts.held_ms.into()),
        ("total_wait_ms", counts.waited_ms.into()),
    ])
}
