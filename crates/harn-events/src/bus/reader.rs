//! A registered sink, with the account of how it behaves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::record::OpaqueEvent;
use crate::sink::{AgentEventSink, EmissionFrame, Kept};

/// One registration. The same sink registered twice is two readers.
pub(super) struct Reader {
    pub(super) id: u64,
    pub(super) sink: Arc<dyn AgentEventSink>,
    delivered: AtomicU64,
    busy_ns: AtomicU64,
    panics: AtomicU32,
    detached: AtomicBool,
}

/// What a reader is given.
#[derive(Clone, Copy)]
pub(super) enum Delivery<'a> {
    Event(EmissionFrame<'a>),
    Opaque(&'a OpaqueEvent, i64),
}

impl Delivery<'_> {
    fn tag(&self) -> &str {
        match self {
            Self::Event(frame) => frame.event.tag(),
            Self::Opaque(event, _) => event.tag(),
        }
    }
}

impl Delivery<'_> {
    /// Tells those that follow what the durable sink made of the event, from the newest index
    /// before and after it.
    pub(super) fn note_kept(&mut self, before: Option<u64>, after: Option<u64>) {
        if let Self::Event(frame) = self {
            frame.kept = after.map(|index| Kept {
                index,
                is_this: before != after,
            });
        }
    }

    /// Calls a sink; a panic stays here.
    pub(super) fn hand_to(self, sink: &dyn AgentEventSink) -> std::thread::Result<()> {
        catch_unwind(AssertUnwindSafe(|| match self {
            Self::Event(frame) => sink.handle_frame(&frame),
            Self::Opaque(event, emitted_at_ms) => sink.handle_opaque(event, emitted_at_ms),
        }))
    }
}

impl Reader {
    pub(super) fn new(id: u64, sink: Arc<dyn AgentEventSink>) -> Arc<Self> {
        Arc::new(Self {
            id,
            sink,
            delivered: AtomicU64::new(0),
            busy_ns: AtomicU64::new(0),
            panics: AtomicU32::new(0),
            detached: AtomicBool::new(false),
        })
    }

    pub(super) fn is_attached(&self) -> bool {
        !self.detached.load(Ordering::Relaxed)
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    pub(super) fn busy_ns(&self) -> u64 {
        self.busy_ns.load(Ordering::Relaxed)
    }

    pub(super) fn panics(&self) -> u32 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Calls the sink and returns whether it panicked. After `panics_max` panics
    /// it is not called again.
    pub(super) fn deliver(&self, delivery: Delivery<'_>, panics_max: u32) -> bool {
        if !self.is_attached() {
            return false;
        }
        let started = Instant::now();
        let outcome = delivery.hand_to(&*self.sink);
        let busy_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.busy_ns.fetch_add(busy_ns, Ordering::Relaxed);
        if outcome.is_ok() {
            self.delivered.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let panics = self.panics.fetch_add(1, Ordering::Relaxed) + 1;
        let detach = panics >= panics_max;
        self.detached.fetch_or(detach, Ordering::Relaxed);
        let event = delivery.tag();
        tracing::warn!(target: "agent.sink", event, panics, detached = detach, "a sink panicked");
        true
    }
}
