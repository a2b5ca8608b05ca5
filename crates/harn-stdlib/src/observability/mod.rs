//! What can be seen of a run.

pub mod event_log;

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    registry.file(
        "observability",
        include_str!("../../harn/observability.harn"),
    );
    event_log::register(registry);
}
