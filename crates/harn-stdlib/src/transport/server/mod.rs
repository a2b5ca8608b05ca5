//! The serving side of long conversations: responses of events, and web sockets.

mod event;
mod sse;

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    event::register(registry);
    sse::register(registry);
}
