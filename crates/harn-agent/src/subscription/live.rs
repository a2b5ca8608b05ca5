//! What happens in a session while somebody reads along: a sink, a bounded queue and the
//! reader at its other end.
//!
//! The sink runs on the thread that emits, so it does little and waits for nobody. When the
//! queue is full, nothing more is queued until the reader has taken all of it and has begun to
//! look into the log, where the rest is kept.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use harn_events::{AgentEvent, AgentEventSink, EmissionFrame};

use super::Seen;

/// How much may wait for a reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Events. Of more than that the reader hears from the log.
    pub(super) events_max: usize,
    /// Bytes of events, about. The same holds when there are more.
    pub(super) bytes_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            events_max: 8192,
            bytes_max: 4 * 1024 * 1024,
        }
    }
}

/// The sink's end. When the bus lets go of it, the session is over for its readers.
pub(super) struct Listener {
    queue: Arc<Queue>,
}

/// The queue between the sink and the reader.
pub(super) struct Queue {
    bounds: Bounds,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// Boxed, because a seen thing is large and handed around.
    items: VecDeque<(Box<Seen>, usize)>,
    bytes: usize,
    /// Whether there was too much: what came after the items is in the log, and the reader has
    /// not begun to look there.
    pub(super) has_overflown: bool,
    /// Whether nothing more will come.
    pub(super) is_closed: bool,
    /// The newest index that was heard of, also of events that were let go.
    pub(super) newest: Option<u64>,
    waker: Option<Waker>,
}

impl Queue {
    pub(super) fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self {
            bounds,
            state: Mutex::default(),
        })
    }

    pub(super) fn listener(self: &Arc<Self>) -> Arc<Listener> {
        Arc::new(Listener {
            queue: Arc::clone(self),
        })
    }

    /// Nothing foreign runs under the lock, so what it guards is whole after a panic.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queue and wakes the reader once nothing is locked.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn push(&self, seen: Seen) {
        let bytes = size_of::<Seen>() + json_bytes(&seen.event);
        self.change(|state| {
            state.newest = state.newest.max(Some(seen.index));
            if state.has_overflown {
                return;
            }
            state.let_go_of_outdated(&seen);
            let Bounds {
                events_max,
                bytes_max,
            } = self.bounds;
            if state.items.len() >= events_max || state.bytes + bytes > bytes_max {
                state.has_overflown = true;
                return;
            }
            state.bytes += bytes;
            state.items.push_back((Box::new(seen), bytes));
        });
    }
}

impl State {
    pub(super) fn front(&self) -> Option<&Seen> {
        self.items.front().map(|(seen, _)| &**seen)
    }

    pub(super) fn pop(&mut self) -> Option<Box<Seen>> {
        let (seen, bytes) = self.items.pop_front()?;
        self.bytes -= bytes;
        Some(seen)
    }

    /// Wakes this reader at the next change. There is one reader only.
    pub(super) fn wake_later(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            None => self.waker = Some(waker.clone()),
        }
    }

    /// A snapshot says all that the one before it said.
    fn let_go_of_outdated(&mut self, next: &Seen) {
        let is_outdated = self.items.back().is_some_and(|(last, _)| {
            !last.is_kept && !next.is_kept && call_of(&last.event) == call_of(&next.event)
        });
        if is_outdated && let Some((_, bytes)) = self.items.pop_back() {
            self.bytes -= bytes;
        }
    }
}

/// The call an event belongs to, if it is the news of one.
fn call_of(event: &AgentEvent) -> Option<&str> {
    match event {
        AgentEvent::ToolCallUpdate { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    }
}

fn json_bytes(event: &AgentEvent) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, event) {
        Ok(()) => counter.0,
        // What cannot be written down is not kept either, and not much.
        Err(_) => 0,
    }
}

impl AgentEventSink for Listener {
    /// An event without a frame has no place in the journal, so it is not for readers of it.
    fn handle_event(&self, _event: &AgentEvent) {}

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        let Some(kept) = frame.kept else {
            return;
        };
        self.queue.push(Seen {
            index: kept.index,
            event: frame.event.clone(),
            emitted_at_ms: frame.emitted_at_ms,
            is_kept: kept.is_this,
            is_replayed: false,
        });
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.queue.change(|state| state.is_closed = true);
    }
}
