//! Reading along.
//!
//! A subscription is a position in a topic and nothing else. It reads what is
//! stored after the position and, where nothing is, waits to be woken. There is no
//! queue between writer and reader that could overflow: a slow reader finds its
//! records where they are kept, so it can be late but never loses its place.
//!
//! How records are found and who wakes is up to the backend.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::event::LogEvent;
use crate::log::Result;
use crate::name::EventId;

/// The records of a topic from a position on. It does not end.
///
/// After an error it can be polled again and tries to go on where it was.
pub struct EventStream {
    records: Pin<Box<Source>>,
    /// The id of the last record handed out.
    position: EventId,
}

/// Where a backend finds records.
type Source = dyn Stream<Item = Result<(EventId, LogEvent)>> + Send;

impl EventStream {
    /// A subscription that starts after `from`, which is where `records` start.
    pub(crate) fn new(
        from: Option<EventId>,
        records: impl Stream<Item = Result<(EventId, LogEvent)>> + Send + 'static,
    ) -> Self {
        Self {
            records: Box::pin(records),
            position: from.unwrap_or(0),
        }
    }

    /// The id of the last record handed out, or where the stream began.
    pub fn position(&self) -> EventId {
        self.position
    }
}

impl Stream for EventStream {
    type Item = Result<(EventId, LogEvent)>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(self.records.as_mut().poll_next(cx));
        if let Some(Ok((id, _))) = &item {
            self.position = *id;
        }
        Poll::Ready(item)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
