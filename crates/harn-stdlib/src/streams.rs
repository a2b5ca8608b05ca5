//! What the `stream` namespace and `parallel_race` need beyond Harn: tasks of their own, and
//! items that several readers share.

mod shared;
mod tasks;

use harn_machine::{Context, Failure, Registry, Value, argument};

pub(crate) fn register(registry: &mut Registry) {
    registry.file("streams", include_str!("../harn/streams.harn"));
    registry.harn("streams", FUNCTIONS);
    registry.plain(&[
        ("__broadcast", shared::broadcast),
        ("__broadcast_add", shared::add),
        ("__broadcast_next", shared::next),
        ("__interval", interval),
        ("__start", tasks::start),
    ]);
    registry.waiting(&[
        ("__outcome", tasks::outcome),
        ("__pulled", tasks::pulled),
        ("__wait_any", tasks::wait_any),
    ]);
}

const FUNCTIONS: &[(&str, &str)] = &[
    ("parallel_race", "parallel_race"),
    ("stream.broadcast", "broadcast"),
    ("stream.collect", "collect"),
    ("stream.debounce", "debounce"),
    ("stream.filter", "filter"),
    ("stream.first", "first"),
    ("stream.fold", "fold"),
    ("stream.interleave", "interleave"),
    ("stream.map", "map"),
    ("stream.merge", "merge"),
    ("stream.race", "race"),
    ("stream.scan", "scan"),
    ("stream.take", "take"),
    ("stream.take_until", "take_until"),
    ("stream.tap", "tap"),
    ("stream.throttle", "throttle"),
    ("stream.zip", "zip"),
];

/// Milliseconds between events at a rate, rounded up; nil if it is not positive and finite.
fn interval(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let per_second = match *argument(arguments, 0) {
        Value::Int(rate) => rate as f64,
        Value::Float(rate) => rate,
        _ => f64::NAN,
    };
    let is_rate = per_second.is_finite() && per_second > 0.0;
    // A year is as good as for ever, and leaves room to be added to a time.
    let longest = 366.0 * 24.0 * 3_600_000.0;
    let gap = (1000.0 / per_second).ceil().min(longest);
    Ok(is_rate.then_some(gap as i64).into())
}
