//! What can be seen of a run.

pub(crate) mod encode;
pub mod event_log;
mod metrics;
pub mod spans;
mod tracing;

use harn_machine::Registry;

pub(crate) use tracing::open_span;

pub(crate) fn register(registry: &mut Registry) {
    registry.file(
        "observability",
        include_str!("../../harn/observability.harn"),
    );
    event_log::register(registry);
    metrics::register(registry);
    spans::register(registry);
    tracing::register(registry);
}
