//! A closure that sees events.

use harn_events::{AgentEvent, AgentEventSink};

/// A sink that is a closure.
pub(crate) struct Watching<F>(pub(crate) F);

impl<F: Fn(&AgentEvent) + Send + Sync> AgentEventSink for Watching<F> {
    fn handle_event(&self, event: &AgentEvent) {
        (self.0)(event);
    }
}
