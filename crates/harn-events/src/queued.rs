//! A queue in front of a slow sink.
//!
//! ```text
//! emitting thread ──► queue (bounded) ──► worker thread ──► the sink
//!                        full: block, drop oldest or drop newest
//! ```
//!
//! The loop pays for a push and nothing more. What is dropped is counted, and
//! the sink is told in its place in the order, so it can say "… 12 events
//! omitted …" where they are missing.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{future, io};

use crate::block::block_on_timeout;
use crate::event::AgentEvent;
use crate::lock::Recover;
use crate::record::OpaqueEvent;
use crate::sink::{
    AgentEventSink, AgentEventSinkError, AgentEventSinkFlush, EmissionFrame, EventGap, Kept,
};

/// What happens when the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverflowPolicy {
    /// The emitter waits until there is room. Nothing is lost.
    Block,
    /// The oldest event in the queue makes room.
    #[default]
    DropOldest,
    /// The new event is not taken.
    DropNewest,
}

/// How a queue behaves.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    /// Events the queue holds, at least one.
    pub queue_events_max: usize,
    /// What happens when it is full.
    pub policy: OverflowPolicy,
    /// The sink is not called any more when it has panicked this often.
    pub panics_max: u32,
    /// Names the worker thread.
    pub name: &'static str,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            queue_events_max: 1024,
            policy: OverflowPolicy::default(),
            panics_max: 8,
            name: "queue",
        }
    }
}

/// What a queued sink did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueHealth {
    /// Events in the queue.
    pub waiting: usize,
    /// Events handed to the sink.
    pub delivered: u64,
    /// Events that were dropped.
    pub dropped: u64,
    /// Times the sink panicked.
    pub panics: u64,
}

/// Delivers to a sink from a thread of its own. Dropping it delivers what is in
/// the queue and then stops the thread.
pub struct QueuedSink {
    shared: Arc<Shared>,
    options: QueueOptions,
    worker: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Something was pushed, or the queue was closed.
    pushed: Condvar,
    /// Something was taken.
    taken: Condvar,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// Dropped since the last item was taken in.
    dropped_at_end: u64,
    health: QueueHealth,
    is_closed: bool,
}

struct Item {
    /// Events dropped right before this one.
    dropped_before: u64,
    content: Content,
}

/// What became of an item.
enum Outcome {
    Delivered,
    Dropped,
    NoEvent,
}

enum Content {
    Event {
        event: Box<AgentEvent>,
        sequence: u64,
        emitted_at_ms: i64,
        frame_depth: Option<u32>,
        kept: Option<Kept>,
    },
    /// An event that came without a frame.
    Bare(Box<AgentEvent>),
    Opaque(Box<OpaqueEvent>, i64),
    Flush(Arc<Flush>),
    /// Nothing more will come; there is only a loss to tell of.
    End,
}

/// A flush on its way through the queue.
#[derive(Default)]
struct Flush {
    state: Mutex<FlushState>,
}

#[derive(Default)]
struct FlushState {
    result: Option<Result<(), AgentEventSinkError>>,
    waker: Option<Waker>,
}

impl QueuedSink {
    /// Puts a queue in front of `sink`.
    ///
    /// # Errors
    /// When the operating system has no thread to give.
    pub fn new(sink: Arc<dyn AgentEventSink>, options: QueueOptions) -> io::Result<Arc<Self>> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            pushed: Condvar::new(),
            taken: Condvar::new(),
        });
        let worker = thread::Builder::new()
            .name(format!("harn-{}", options.name))
            .spawn({
                let shared = Arc::clone(&shared);
                let panics_max = options.panics_max;
                move || shared.work(&*sink, panics_max)
            })?;
        Ok(Arc::new(Self {
            shared,
            options,
            worker: Mutex::new(Some(worker)),
        }))
    }

    /// What the queue did so far.
    pub fn health(&self) -> QueueHealth {
        let queue = self.shared.queue.recover();
        QueueHealth {
            waiting: queue.items.len(),
            ..queue.health
        }
    }

    fn push(&self, content: Content) {
        let mut queue = self.shared.queue.recover();
        let is_event = !matches!(content, Content::Flush(_));
        // A flush waits for no room: it is what the emitter is waiting for.
        while is_event && queue.items.len() >= self.options.queue_events_max.max(1) {
            match self.options.policy {
                // The sink itself emits, and would wait for itself.
                OverflowPolicy::Block if self.is_worker() => break,
                OverflowPolicy::Block => queue = self.shared.wait_for_room(queue),
                OverflowPolicy::DropOldest if queue.drop_oldest() => {}
                OverflowPolicy::DropOldest => break,
                OverflowPolicy::DropNewest => {
                    queue.dropped_at_end += 1;
                    queue.health.dropped += 1;
                    return;
                }
            }
        }
        let dropped_before = std::mem::take(&mut queue.dropped_at_end);
        queue.items.push_back(Item {
            dropped_before,
            content,
        });
        self.shared.pushed.notify_one();
    }

    fn is_worker(&self) -> bool {
        let worker = self.worker.recover();
        worker
            .as_ref()
            .is_some_and(|worker| worker.thread().id() == thread::current().id())
    }
}

impl Queue {
    /// Drops the oldest event; flushes stay, because somebody waits for them.
    fn drop_oldest(&mut self) -> bool {
        let oldest = self
            .items
            .iter()
            .position(|item| !matches!(item.content, Content::Flush(_)));
        let Some(at) = oldest else { return false };
        let item = self.items.remove(at).expect("the position was just found");
        let dropped = item.dropped_before + 1;
        match self.items.get_mut(at) {
            Some(next) => next.dropped_before += dropped,
            None => self.dropped_at_end += dropped,
        }
        self.health.dropped += 1;
        true
    }
}

impl Shared {
    fn wait_for_room<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        self.taken
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, sink: &dyn AgentEventSink, panics_max: u32) {
        while let Some(item) = self.next() {
            let is_detached = self.queue.recover().health.panics >= u64::from(panics_max);
            let outcome = match is_detached {
                // Only whoever waits for a flush still has to be told.
                true => Ok(item.give_up()),
                false => catch_unwind(AssertUnwindSafe(|| item.deliver(sink))),
            };
            let health = &mut self.queue.recover().health;
            match outcome {
                Ok(Outcome::Delivered) => health.delivered += 1,
                Ok(Outcome::Dropped) => health.dropped += 1,
                Ok(Outcome::NoEvent) => {}
                Err(_) => health.panics += 1,
            }
        }
    }

    /// The next item; `None` once the queue is closed and empty.
    fn next(&self) -> Option<Item> {
        let mut queue = self.queue.recover();
        loop {
            if let Some(item) = queue.items.pop_front() {
                self.taken.notify_all();
                return Some(item);
            }
            if queue.is_closed {
                let dropped_before = std::mem::take(&mut queue.dropped_at_end);
                return (dropped_before > 0).then_some(Item {
                    dropped_before,
                    content: Content::End,
                });
            }
            queue = self
                .pushed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Item {
    /// What becomes of an item of a sink that is not called any more.
    fn give_up(self) -> Outcome {
        match self.content {
            Content::Event { .. } | Content::Bare(_) | Content::Opaque(..) => Outcome::Dropped,
            Content::End => Outcome::NoEvent,
            Content::Flush(flush) => {
                drop(FlushGuard(flush));
                Outcome::NoEvent
            }
        }
    }

    /// Hands the item to the sink.
    fn deliver(self, sink: &dyn AgentEventSink) -> Outcome {
        if self.dropped_before > 0 {
            sink.handle_gap(&EventGap {
                dropped_events: self.dropped_before,
            });
        }
        match self.content {
            Content::Event {
                event,
                sequence,
                emitted_at_ms,
                frame_depth,
                kept,
            } => {
                let event = &*event;
                sink.handle_frame(&EmissionFrame {
                    event,
                    sequence,
                    emitted_at_ms,
                    frame_depth,
                    kept,
                });
                Outcome::Delivered
            }
            Content::Bare(event) => {
                sink.handle_event(&event);
                Outcome::Delivered
            }
            Content::Opaque(event, emitted_at_ms) => {
                sink.handle_opaque(&event, emitted_at_ms);
                Outcome::Delivered
            }
            Content::End => Outcome::NoEvent,
            Content::Flush(flush) => {
                // Whoever waits must be told even if the sink panics.
                let guard = FlushGuard(flush);
                let flushed = block_on_timeout(sink.flush(), Duration::MAX);
                guard.0.resolve(flushed.unwrap_or(Ok(())));
                Outcome::NoEvent
            }
        }
    }
}

impl Flush {
    fn resolve(&self, result: Result<(), AgentEventSinkError>) {
        let mut state = self.state.recover();
        state.result.get_or_insert(result);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}

struct FlushGuard(Arc<Flush>);

impl Drop for FlushGuard {
    fn drop(&mut self) {
        self.0.resolve(Err(AgentEventSinkError::new(
            "queued",
            "the sink panicked",
            0,
        )));
    }
}

impl AgentEventSink for QueuedSink {
    fn handle_event(&self, event: &AgentEvent) {
        self.push(Content::Bare(Box::new(event.clone())));
    }

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        let &EmissionFrame {
            event,
            sequence,
            emitted_at_ms,
            frame_depth,
            kept,
        } = frame;
        let event = Box::new(event.clone());
        self.push(Content::Event {
            event,
            sequence,
            emitted_at_ms,
            frame_depth,
            kept,
        });
    }

    fn handle_opaque(&self, event: &OpaqueEvent, emitted_at_ms: i64) {
        self.push(Content::Opaque(Box::new(event.clone()), emitted_at_ms));
    }

    fn handle_gap(&self, gap: &EventGap) {
        // Told together with what comes next, like a loss of this queue.
        self.shared.queue.recover().dropped_at_end += gap.dropped_events;
    }

    /// Resolves when the sink has handled and flushed everything pushed so far.
    /// Reports the events the queue has dropped.
    fn flush(&self) -> AgentEventSinkFlush<'_> {
        let flush = Arc::new(Flush::default());
        self.push(Content::Flush(Arc::clone(&flush)));
        Box::pin(async move {
            future::poll_fn(|cx| {
                let mut state = flush.state.recover();
                match state.result.clone() {
                    Some(result) => Poll::Ready(result),
                    None => {
                        state.waker = Some(cx.waker().clone());
                        Poll::Pending
                    }
                }
            })
            .await?;
            match self.health().dropped {
                0 => Ok(()),
                dropped => Err(AgentEventSinkError::new(
                    "queued",
                    "the queue was full",
                    dropped,
                )),
            }
        })
    }
}

impl Drop for QueuedSink {
    fn drop(&mut self) {
        self.shared.queue.recover().is_closed = true;
        self.shared.pushed.notify_all();
        let worker = self.worker.recover().take();
        // The sink may hold the last reference to its own queue.
        if let Some(worker) = worker.filter(|worker| worker.thread().id() != thread::current().id())
        {
            // A panic of the worker has been counted where it happened.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests;
