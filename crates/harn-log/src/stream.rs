//! Reading along.
//!
//! A subscription is a position in a topic and nothing else. It reads what is
//! stored after the position and, where nothing is, waits to be woken. There is no
//! queue between writer and reader that could overflow: a slow reader finds its
//! records where they are kept, so it can be late but never loses its place.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::Result;
use crate::name::EventId;

/// What a subscription needs of its topic.
pub(crate) trait Tail: Send + Sync {
    /// Records after `from`, at most `limit`. If there are none, `waker` is woken
    /// when there may be; looking and leaving the waker is one step, so that nothing
    /// can come in between.
    fn read_or_wait(
        &self,
        reader: ReaderId,
        from: EventId,
        limit: usize,
        waker: &Waker,
    ) -> Result<Vec<(EventId, LogEvent)>>;

    /// The reader has gone.
    fn forget(&self, reader: ReaderId);
}

/// Tells the readers of a topic apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReaderId(pub(crate) u64);

/// The records of a topic from a position on. It does not end.
pub struct EventStream {
    tail: Arc<dyn Tail>,
    reader: ReaderId,
    /// The id of the last record handed out.
    position: EventId,
    /// Records that have been read and not handed out.
    ready: VecDeque<(EventId, LogEvent)>,
    batch_max: usize,
}

impl EventStream {
    pub(crate) fn new(
        tail: Arc<dyn Tail>,
        reader: ReaderId,
        from: Option<EventId>,
        batch_max: usize,
    ) -> Self {
        Self {
            tail,
            reader,
            position: from.unwrap_or(0),
            ready: VecDeque::new(),
            batch_max: batch_max.max(1),
        }
    }

    /// The id of the last record handed out, or where the stream began.
    pub fn position(&self) -> EventId {
        self.position
    }
}

impl Stream for EventStream {
    type Item = std::result::Result<(EventId, LogEvent), LogError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.ready.is_empty() {
            let read =
                this.tail
                    .read_or_wait(this.reader, this.position, this.batch_max, cx.waker());
            match read {
                Ok(records) => this.ready.extend(records),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        let Some((id, event)) = this.ready.pop_front() else {
            return Poll::Pending;
        };
        this.position = id;
        Poll::Ready(Some(Ok((id, event))))
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.tail.forget(self.reader);
    }
}
