mod event;
mod sse;

use harn_machine::{Context, Registry};

pub(crate) fn register(registry: &mut Registry) {
    event::register(registry);
    sse::register(registry);
}

/// Ends all responses and closes all servers.
pub(crate) fn clear(context: &mut Context<'_>) {
    sse::clear(context);
}
