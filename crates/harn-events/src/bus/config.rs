//! What a bus is built with.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::redact::RedactionPolicy;
use crate::sink::AgentEventSink;

/// Settings of an [`EventBus`](crate::EventBus). Every bound has a name here.
#[derive(Clone)]
pub struct BusConfig {
    /// Where times come from.
    pub clock: Arc<dyn Clock>,
    /// What is hidden before any reader sees it.
    pub redaction: RedactionPolicy,
    /// Gives each opened session its durable sink, if events are to be kept.
    pub durable: Option<Arc<dyn DurableSinks>>,
    /// A sink is detached when it has panicked this often.
    pub panics_max: u32,
    /// How deep readers may emit from inside a delivery. Deeper events are
    /// dropped and counted: they come from a reader that answers itself.
    pub nesting_max: u32,
    /// Events that may wait while another thread delivers for the same session.
    /// When it is full, an emitter waits; a reader that emits loses the event.
    pub waiting_events_max: usize,
    /// Events kept for closures until the next safe point. The oldest is dropped.
    pub subscriber_backlog_max: usize,
    /// How long one closure may take for one event; `None` for no limit.
    pub subscriber_time_limit: Option<Duration>,
    /// Feedback items kept per session. The oldest is dropped.
    pub inbox_items_max: usize,
    /// Inboxes kept for sessions that nobody has opened. The oldest is dropped.
    pub orphan_inboxes_max: usize,
    /// Sessions that may be open at once.
    pub sessions_max: usize,
}

/// Sessions that may be open at once unless configured otherwise.
pub const DEFAULT_SESSION_CAP: usize = 128;

impl Default for BusConfig {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            redaction: RedactionPolicy::new(),
            durable: None,
            panics_max: 8,
            nesting_max: 16,
            waiting_events_max: 4096,
            subscriber_backlog_max: 4096,
            subscriber_time_limit: None,
            inbox_items_max: 1024,
            orphan_inboxes_max: 1024,
            sessions_max: DEFAULT_SESSION_CAP,
        }
    }
}

/// Opens the durable sink of a session: a JSONL file, a log topic.
pub trait DurableSinks: Send + Sync {
    /// Opens it for appending after whatever the session has stored before. The
    /// sink hides what the bus hides.
    fn open(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>>;

    /// The same for a session whose id nobody had before: nothing of it is stored, so nobody
    /// has to look.
    fn open_new(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        self.open(session_id, redaction)
    }
}
