//! A subscription to a log on this machine: from the hub while it keeps up, from
//! storage while it does not.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::sync::oneshot;

use crate::error::LogError;
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::record::{Record, Records};

use super::LocalEventLog;
use super::hub::{Follower, Next};
use super::store::{Store, StoreReader};

/// The records of a topic from a position on.
pub(crate) struct Subscription<S: Store> {
    log: Arc<LocalEventLog<S>>,
    topic: Topic,
    follower: Follower,
    /// The id of the last record found.
    position: EventId,
    /// Records that were found and not handed out.
    found: VecDeque<Record>,
    /// A read from storage that is under way.
    reading: Option<oneshot::Receiver<Records>>,
}

impl<S: Store> Subscription<S> {
    pub(crate) fn new(
        log: Arc<LocalEventLog<S>>,
        topic: &Topic,
        from: Option<EventId>,
        follower: Follower,
    ) -> Self {
        Self {
            log,
            topic: topic.clone(),
            follower,
            position: from.unwrap_or(0),
            found: VecDeque::new(),
            reading: None,
        }
    }

    fn start_reading(&mut self) -> Result<()> {
        let (topic, from, limit) = (self.topic.clone(), self.position, self.log.queue_depth);
        let (reply, answer) = oneshot::channel();
        self.log.reader.send(move |reader: &S::Reader| {
            if !reply.is_closed() {
                let _the_reader_may_have_gone = reply.send(reader.read_after(&topic, from, limit));
            }
        })?;
        self.reading = Some(answer);
        Ok(())
    }

    fn keep(&mut self, records: Vec<Record>) {
        if let Some((id, _)) = records.last() {
            self.position = *id;
        }
        self.found.extend(records);
    }

    /// Finds the next records, or waits for them.
    fn poll_find(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        loop {
            if let Some(reading) = &mut self.reading {
                let read = ready!(Pin::new(reading).poll(cx));
                self.reading = None;
                let read = read.unwrap_or(Err(LogError::Closed));
                // A full batch may not be all there is, and after an error the next
                // poll tries again.
                if read.as_ref().map_or(true, |records| !records.is_empty()) {
                    self.follower.look_again();
                }
                let records = read?;
                if !records.is_empty() {
                    self.keep(records);
                    return Poll::Ready(Ok(()));
                }
            }
            match self.follower.next(self.position, cx.waker()) {
                Next::Take(records) => {
                    self.keep(records);
                    return Poll::Ready(Ok(()));
                }
                Next::Read => self.start_reading()?,
                Next::Wait => return Poll::Pending,
            }
        }
    }
}

impl<S: Store> Stream for Subscription<S> {
    type Item = Result<Record>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.found.is_empty()
            && let Err(error) = ready!(self.poll_find(cx))
        {
            return Poll::Ready(Some(Err(error)));
        }
        Poll::Ready(self.found.pop_front().map(Ok))
    }
}
