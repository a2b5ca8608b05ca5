//! Who reads the stream.
//!
//! A sink is called for each event of the sessions it is registered for, on the
//! thread that emits, one event after another. Durable sinks want to know when an
//! event was emitted and slow ones what they missed, so besides
//! [`handle_event`](AgentEventSink::handle_event) there are a few methods with a
//! default body; a sink that only wants events implements one function.

use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::contain::contained;
use crate::event::AgentEvent;
use crate::lock::Recover;
use crate::record::OpaqueEvent;

/// Receives the events of a session.
///
/// It may be called from several threads over time, must not block for long, may
/// itself emit, register and clear, and keeps its failures to itself: a panic is
/// contained and counted, and a sink that goes on panicking is detached.
pub trait AgentEventSink: Send + Sync {
    /// Takes one event. The session's next event waits until this returns; a sink
    /// that needs longer belongs behind a [`QueuedSink`](crate::QueuedSink).
    fn handle_event(&self, event: &AgentEvent);

    /// Takes one event together with when and where it was emitted. Sinks that
    /// store events override this one, so that all of them store the same time.
    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        self.handle_event(frame.event);
    }

    /// Takes a record that this version does not understand, with the time of its
    /// emission. Ignored by default.
    fn handle_opaque(&self, _event: &OpaqueEvent, _emitted_at_ms: i64) {}

    /// Says, in its place in the order, that events were dropped before they got here.
    fn handle_gap(&self, _gap: &EventGap) {}

    /// The index of the newest event the sink has taken, if it numbers what it keeps and has
    /// taken any since it was opened.
    fn newest_index(&self) -> Option<u64> {
        None
    }

    /// What the sink did so far, if it keeps events.
    fn durable_health(&self) -> Option<DurableHealth> {
        None
    }

    /// Resolves when everything accepted before the call is durable.
    fn flush(&self) -> AgentEventSinkFlush<'_> {
        Box::pin(ready(Ok(())))
    }
}

/// What [`AgentEventSink::flush`] returns.
pub type AgentEventSinkFlush<'a> =
    Pin<Box<dyn Future<Output = Result<(), AgentEventSinkError>> + Send + 'a>>;

/// One emission: the event and the circumstances all of its readers agree on.
#[derive(Clone, Copy, Debug)]
pub struct EmissionFrame<'a> {
    /// What happened.
    pub event: &'a AgentEvent,
    /// Rises with every emission on the bus, so it orders the events of a session.
    pub sequence: u64,
    /// When it was emitted; never earlier than the emission before.
    pub emitted_at_ms: i64,
    /// Call depth of the interpreter that emitted, if there was one.
    pub frame_depth: Option<u32>,
    /// Where the session's durable record stands. `None` for the durable sink itself, and
    /// while nothing of the session is kept.
    pub kept: Option<Kept>,
}

/// The newest event of a session that its durable sink has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its index in the session.
    pub index: u64,
    /// Whether it is the event in delivery. Otherwise that one is not kept at all: it is a
    /// snapshot that durable sinks leave out, or could not be stored.
    pub is_this: bool,
}

/// A hole in what a queued sink received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGap {
    /// How many events are missing here.
    pub dropped_events: u64,
}

/// A flush that did not make everything durable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sink} sink flush failed: {message}{}", dropped_suffix(*.dropped_events))]
pub struct AgentEventSinkError {
    sink: &'static str,
    message: String,
    dropped_events: u64,
}

fn dropped_suffix(dropped_events: u64) -> String {
    if dropped_events == 0 {
        String::new()
    } else {
        format!(" ({dropped_events} dropped events)")
    }
}

impl AgentEventSinkError {
    /// An error of the sink called `sink`.
    pub fn new(sink: &'static str, message: impl Into<String>, dropped_events: u64) -> Self {
        Self {
            sink,
            message: message.into(),
            dropped_events,
        }
    }

    /// Which kind of sink failed.
    pub fn sink(&self) -> &'static str {
        self.sink
    }

    /// What went wrong first.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How many events were lost.
    pub fn dropped_events(&self) -> u64 {
        self.dropped_events
    }
}

/// What a durable sink did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurableHealth {
    /// Events it was given.
    pub accepted: u64,
    /// Events that are in the file or log.
    pub stored: u64,
    /// Events that could not be stored.
    pub dropped: u64,
    /// Argument snapshots left out on purpose (see [`DurableAgentEventProjector`](crate::DurableAgentEventProjector)).
    pub skipped: u64,
    /// The first thing that went wrong.
    pub first_error: Option<String>,
}

impl DurableHealth {
    pub(crate) fn drop_event(&mut self, error: impl std::fmt::Display) {
        self.dropped += 1;
        self.first_error.get_or_insert_with(|| error.to_string());
    }

    pub(crate) fn flush_result(&self, sink: &'static str) -> Result<(), AgentEventSinkError> {
        match &self.first_error {
            None => Ok(()),
            Some(message) => Err(AgentEventSinkError::new(sink, message, self.dropped)),
        }
    }
}

/// Events after which nothing may be lost: the end of a run, the end of a session.
pub(crate) fn ends_run(event: &AgentEvent) -> bool {
    match event {
        AgentEvent::BudgetExhausted { .. }
        | AgentEvent::LoopStuck { .. }
        | AgentEvent::DaemonWatchdogTripped { .. }
        | AgentEvent::SessionClosed { .. } => true,
        AgentEvent::LoopCheckpoint { kind, .. } => kind == "loop_exit",
        _ => false,
    }
}

/// Delivers to several sinks as if they were one, in push order.
#[derive(Default)]
pub struct MultiSink {
    /// Copied on write, so that delivery holds no lock while members run.
    members: Mutex<Arc<Vec<Arc<Member>>>>,
}

/// A member that goes on panicking is no longer called.
const MEMBER_PANICS_MAX: u32 = 8;

struct Member {
    sink: Arc<dyn AgentEventSink>,
    panics: AtomicU32,
}

impl MultiSink {
    /// A sink without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member. It sees the events that follow.
    pub fn push(&self, sink: Arc<dyn AgentEventSink>) {
        let panics = AtomicU32::new(0);
        Arc::make_mut(&mut self.members.recover()).push(Arc::new(Member { sink, panics }));
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.recover().len()
    }

    /// Whether there is nobody to deliver to.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls every member, also after one has panicked.
    fn each(&self, deliver: impl Fn(&dyn AgentEventSink)) {
        let members = Arc::clone(&self.members.recover());
        for member in members.iter() {
            if member.panics.load(Ordering::Relaxed) >= MEMBER_PANICS_MAX {
                continue;
            }
            if catch_unwind(AssertUnwindSafe(|| deliver(&*member.sink))).is_err() {
                let panics = member.panics.fetch_add(1, Ordering::Relaxed) + 1;
                tracing::warn!(target: "agent.sink", panics, "a member of a sink panicked");
            }
        }
    }
}

impl AgentEventSink for MultiSink {
    fn handle_event(&self, event: &AgentEvent) {
        self.each(|member| member.handle_event(event));
    }

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        self.each(|member| member.handle_frame(frame));
    }

    fn handle_opaque(&self, event: &OpaqueEvent, emitted_at_ms: i64) {
        self.each(|member| member.handle_opaque(event, emitted_at_ms));
    }

    fn handle_gap(&self, gap: &EventGap) {
        self.each(|member| member.handle_gap(gap));
    }

    fn flush(&self) -> AgentEventSinkFlush<'_> {
        let members = Arc::clone(&self.members.recover());
        let sinks: Vec<_> = members
            .iter()
            .map(|member| Arc::clone(&member.sink))
            .collect();
        Box::pin(async move { flush_all(&sinks).await })
    }
}

/// Flushes every sink, also after one has failed, and returns the first error.
pub(crate) async fn flush_all(
    sinks: &[Arc<dyn AgentEventSink>],
) -> Result<(), AgentEventSinkError> {
    let mut outcome = Ok(());
    for sink in sinks {
        let flushed = contained(async { sink.flush().await }).await;
        let flushed = flushed
            .unwrap_or_else(|_| Err(AgentEventSinkError::new("unknown", "the sink panicked", 0)));
        outcome = outcome.and(flushed);
    }
    outcome
}
