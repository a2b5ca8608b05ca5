//! Reading along with a session: what is kept of it, then what happens.
//!
//! ```text
//! loop ─► bus ─► durable sink ─► log ──────────────┐ read from the cursor, after attaching
//!           │                                      │ and whenever the queue was too short
//!           └──► listener ─► queue (bounded) ──────┴─► Subscription ─► an editor, a page
//! ```
//!
//! A subscription is a *cursor*: the index of the last record it has given. Whatever comes,
//! from the log or from the queue, is given if it follows the cursor and let go otherwise.
//! So it does not matter which of the two is ahead: there is no gap and no double, also when
//! the log is written later than events are heard.
//!
//! The loop never waits for a reader. A reader that is slow comes to the end of a queue that was
//! full, and reads the log from its cursor until it meets the queue again. What durable sinks
//! leave out, the snapshots of arguments that arrive, is heard by those who keep up and by nobody
//! else; such an event has the index of the last record before it.

mod live;
#[cfg(test)]
mod tests;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use harn_events::{
    AgentEvent, EventBus, LogFailure, SESSION_HEADER, SessionLists, SinkGuard, agent_events_topic,
    event_of_log_record,
};
use harn_log::{AnyEventLog, EventLog, EventStream, LogError, LogEvent, Topic};

use crate::event_log::{LoggedSessions, to_events};
use crate::runtime::Runtime;
use crate::whole_lists::lists_before;
use live::{Bounds, Queue};

/// Something that happened in a session, with its place in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Its index. An event that is not kept has the index of the last one before it that is.
    pub index: u64,
    /// What happened.
    pub event: AgentEvent,
    /// When, in milliseconds since the epoch.
    pub emitted_at_ms: i64,
    /// Whether it can be read again.
    pub is_kept: bool,
    /// Whether it happened before the subscription began.
    pub is_replayed: bool,
}

/// The records of a session in order: first what is kept after an index, then what happens,
/// without a gap and without a double.
///
/// It ends when the session is closed, and when the log cannot be read: then
/// [`failure`](Self::failure) says why. Another one can be made from
/// [`cursor`](Self::cursor) on.
pub struct Subscription {
    session_id: String,
    log: Arc<AnyEventLog>,
    topic: Topic,
    queue: Arc<Queue>,
    /// The index of the last record that was given, or passed over.
    cursor: Option<u64>,
    /// The newest record when the subscription began.
    newest_at_start: Option<u64>,
    source: Source,
    /// Those that the records after the cursor go on with.
    lists: SessionLists,
    failure: Option<LogError>,
    /// Stops listening when dropped.
    _listening: SinkGuard,
}

/// Where the next record is looked for.
enum Source {
    /// In the log, once it is open.
    Opening(Pin<Box<dyn Future<Output = Result<EventStream, LogError>> + Send>>),
    /// In the log, and in the queue as soon as the two meet.
    Log(EventStream),
    /// In the queue alone.
    Queue,
}

/// What the queue has to say.
enum Heard {
    Next(Box<Seen>),
    /// Nothing that follows the cursor.
    Nothing,
    /// Nothing more was queued; what came then is in the log.
    Overflown,
    /// All was given and nothing more will come.
    Ended,
}

impl Subscription {
    /// Reads along with a session, from after the index `after` on.
    ///
    /// The session may be open or not, and may never have existed. An index that the session
    /// has not reached counts as its newest one.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn open(
        bus: &EventBus,
        log: Arc<AnyEventLog>,
        session_id: &str,
        after: Option<u64>,
    ) -> Result<Self, LogError> {
        Self::bounded(bus, log, session_id, after, Bounds::default()).await
    }

    async fn bounded(
        bus: &EventBus,
        log: Arc<AnyEventLog>,
        session_id: &str,
        after: Option<u64>,
        bounds: Bounds,
    ) -> Result<Self, LogError> {
        let topic = Topic::new(agent_events_topic(session_id))?;
        // First the ear, then the log: what happens in between is in both.
        let queue = Queue::new(bounds);
        let listening = bus.register(session_id, queue.listener());
        let logged = LoggedSessions::new(Arc::clone(&log));
        let newest = logged.newest_of(&topic, session_id).await?;
        let newest_stored = newest.as_ref().and_then(index_of);
        // What has its index may still be on its way into the log.
        let newest_at_start = newest_stored.max(bus.newest_index(session_id));
        let cursor = after.min(newest_at_start);
        let lists = match cursor {
            Some(cursor) if Some(cursor) < newest_stored => {
                lists_before(&*log, &topic, session_id, cursor.saturating_add(2)).await?
            }
            _ => SessionLists::default(),
        };
        let mut subscription = Self {
            session_id: session_id.to_owned(),
            log,
            topic,
            queue,
            cursor,
            lists,
            newest_at_start,
            source: Source::Queue,
            failure: None,
            _listening: listening,
        };
        subscription.look_into_log();
        Ok(subscription)
    }

    /// The index of the last record that was given. Whoever reads on elsewhere begins there.
    pub fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// Why it has ended, if that is not because the session was closed.
    pub fn failure(&self) -> Option<&LogError> {
        self.failure.as_ref()
    }

    /// The next thing that happened. `None`: there will be nothing more.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Seen> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next record of those there were when the subscription began. `None`: that was all,
    /// and [`next`](Self::next) goes on.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn next_replayed(&mut self) -> Option<Seen> {
        poll_fn(|cx| {
            loop {
                if self.cursor >= self.newest_at_start || self.failure.is_some() {
                    return Poll::Ready(None);
                }
                if let Some(seen) = ready!(self.poll_log(cx)) {
                    return Poll::Ready(Some(seen));
                }
            }
        })
        .await
    }

    /// The same as [`next`](Self::next), for those who poll.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Seen>> {
        loop {
            if self.failure.is_some() {
                return Poll::Ready(None);
            }
            match self.hear(cx) {
                Heard::Next(seen) => {
                    self.cursor = Some(seen.index);
                    if let AgentEvent::IterationEnd { iteration_info, .. } = &seen.event {
                        self.lists.remember(iteration_info);
                    }
                    return Poll::Ready(Some(*seen));
                }
                Heard::Overflown => self.look_into_log(),
                Heard::Ended => return Poll::Ready(None),
                Heard::Nothing if matches!(self.source, Source::Queue) => return Poll::Pending,
                Heard::Nothing => {
                    if let Some(seen) = ready!(self.poll_log(cx)) {
                        return Poll::Ready(Some(seen));
                    }
                }
            }
        }
    }

    /// Begins to read the log after the cursor.
    fn look_into_log(&mut self) {
        // Ids of a topic begin with 1 and rise with every record of any session, so a
        // session's record of index N has at least the id N + 1.
        let from = self.cursor.map(|cursor| cursor.saturating_add(1));
        let (log, topic) = (Arc::clone(&self.log), self.topic.clone());
        let opening = async move { log.subscribe(&topic, from).await };
        self.source = Source::Opening(Box::pin(opening));
    }

    /// The index of the record that follows the cursor.
    fn next_index(&self) -> u64 {
        self.cursor.map_or(0, |cursor| cursor.saturating_add(1))
    }

    /// Listens, and leaves the waker where there is nothing to hear.
    fn hear(&mut self, cx: &Context<'_>) -> Heard {
        let queue = Arc::clone(&self.queue);
        let mut state = queue.lock();
        while let Some(front) = state.front() {
            // What is not kept comes after the record of its index.
            let has_met = match front.is_kept {
                true => front.index <= self.next_index(),
                false => Some(front.index) <= self.cursor,
            };
            if !has_met && !matches!(self.source, Source::Queue) {
                break;
            }
            // All that follows comes through the queue.
            self.source = Source::Queue;
            let is_next = match front.is_kept {
                true => Some(front.index) > self.cursor,
                false => Some(front.index) == self.cursor,
            };
            let seen = state.pop();
            if let Some(seen) = seen.filter(|_| is_next) {
                return Heard::Next(seen);
            }
        }
        if state.has_overflown && state.front().is_none() {
            // From here on events are queued again, so the log and the queue will meet.
            state.has_overflown = false;
            return Heard::Overflown;
        }
        let has_given_all = self.cursor >= self.newest_at_start.max(state.newest);
        if state.is_closed && state.front().is_none() && has_given_all {
            return Heard::Ended;
        }
        state.wake_later(cx.waker());
        Heard::Nothing
    }

    /// Takes the next record of the log: `None` if it is no event for the reader.
    fn poll_log(&mut self, cx: &mut Context<'_>) -> Poll<Option<Seen>> {
        match ready!(self.poll_record(cx)) {
            Ok(record) => Poll::Ready(self.see(record)),
            Err(error) => {
                self.failure = Some(error);
                Poll::Ready(None)
            }
        }
    }

    fn poll_record(&mut self, cx: &mut Context<'_>) -> Poll<Result<LogEvent, LogError>> {
        loop {
            match &mut self.source {
                Source::Opening(opening) => {
                    self.source = Source::Log(ready!(opening.as_mut().poll(cx))?);
                }
                Source::Log(records) => {
                    return match ready!(Pin::new(records).poll_next(cx)) {
                        Some(record) => Poll::Ready(record.map(|(_, record)| record)),
                        None => Poll::Ready(Err(LogError::Closed)),
                    };
                }
                Source::Queue => self.look_into_log(),
            }
        }
    }

    /// What a record of the log says, if it follows the cursor. A record that this version
    /// does not understand has an index all the same.
    fn see(&mut self, record: LogEvent) -> Option<Seen> {
        if record.headers.get(SESSION_HEADER) != Some(&self.session_id) {
            return None;
        }
        let index = index_of(&record).filter(|index| *index >= self.next_index())?;
        self.cursor = Some(index);
        let emitted_at_ms = record.occurred_at_ms;
        let mut event = event_of_log_record(&to_events(record), &self.session_id)?;
        event.complete(&mut self.lists);
        Some(Seen {
            index,
            event: event.into_event()?,
            emitted_at_ms,
            is_kept: true,
            is_replayed: Some(index) <= self.newest_at_start,
        })
    }
}

fn index_of(record: &LogEvent) -> Option<u64> {
    record.payload.get("index")?.as_u64()
}

/// Sessions are not kept, so there is nothing to read along with.
#[derive(Debug, thiserror::Error)]
#[error("sessions are not kept: there is no event log to read them from")]
struct NotKept;

impl Runtime {
    /// Reads along with a session, from after the index `after` on.
    ///
    /// # Errors
    /// Sessions are not kept, or their log cannot be read.
    pub async fn subscribe(
        &self,
        session_id: &str,
        after: Option<u64>,
    ) -> Result<Subscription, LogFailure> {
        let log = self.keeper().and_then(|keeper| keeper.log());
        let log = Arc::clone(log.ok_or(NotKept)?);
        Ok(Subscription::open(self.bus(), log, session_id, after).await?)
    }
}
