//! What can be seen of a run.

mod encode;
pub mod event_log;
mod metrics;
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
    tracing::register(registry);
}
