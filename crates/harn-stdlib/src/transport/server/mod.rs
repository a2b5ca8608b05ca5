//! The serving side of long conversations: responses of events, and web sockets.

mod event;
pub(crate) mod sockets;
mod sse;

use harn_machine::{Context, Registry};

pub(crate) fn register(registry: &mut Registry) {
    event::register(registry);
    sockets::register(registry);
    sse::register(registry);
}

/// Forgets all responses and closes all servers.
pub(crate) fn clear(context: &mut Context<'_>) {
    sse::clear(context);
    sockets::clear(context);
}
