//! The way into a session's inbox, and out of it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use super::EventBus;
use super::inbox::{self, InboxItem, InboxSource};
use crate::lock::Recover;

/// Inboxes of sessions that nobody has opened, oldest first.
#[derive(Default)]
pub(super) struct Orphans(VecDeque<Arc<str>>);

impl EventBus {
    /// Queues a note for the session's next model call, from any thread.
    pub fn push_feedback(&self, session_id: &str, kind: &str, content: &str, source: InboxSource) {
        self.push_inbox_item(session_id, kind, content, source, None, None);
    }

    /// Queues a note with structured detail and a wish for its delivery.
    pub fn push_inbox_item(
        &self,
        session_id: &str,
        kind: &str,
        content: &str,
        source: InboxSource,
        payload: Option<Value>,
        delivery: Option<String>,
    ) {
        let item = InboxItem {
            sequence: 0,
            session_id: session_id.to_owned(),
            kind: kind.to_owned(),
            content: content.to_owned(),
            source,
            ts_ms: self.inner.config.clock.now_ms(),
            payload,
            delivery,
        };
        let items_max = self.inner.config.inbox_items_max;
        let ((dropped, wakers), is_orphan) = self.with_session(session_id, |session| {
            let is_orphan = session.is_idle();
            (session.inbox.push(item, items_max), is_orphan)
        });
        wakers.into_iter().for_each(Waker::wake);
        self.count_dropped_feedback(dropped);
        if is_orphan {
            self.adopt_orphan(session_id);
        }
    }

    /// Removes and returns the session's notes, in push order.
    pub fn drain_inbox(&self, session_id: &str) -> Vec<InboxItem> {
        self.drain_inbox_where(session_id, |_| true)
    }

    /// Removes and returns the session's notes as `(kind, content)`, in push order.
    pub fn drain_feedback(&self, session_id: &str) -> Vec<(String, String)> {
        inbox::pairs(self.drain_inbox(session_id))
    }

    /// Like [`drain_feedback`](Self::drain_feedback) for the notes of one source.
    pub fn drain_feedback_from(
        &self,
        session_id: &str,
        source: InboxSource,
    ) -> Vec<(String, String)> {
        inbox::pairs(self.drain_inbox_where(session_id, |item| item.source == source))
    }

    /// Waits until the session has a note, and drains its inbox. Resolves with
    /// nothing when the session is closed meanwhile.
    ///
    /// # Cancel safety
    /// Nothing is drained before the future resolves.
    pub async fn wait_for_inbox(&self, session_id: &str) -> Vec<InboxItem> {
        let mut waiting = Waiting {
            bus: self,
            session_id,
            generation: None,
            waker: None,
        };
        poll_fn(|cx| waiting.poll(cx)).await
    }

    /// Blocks this thread until the session has a note, or until `timeout`, and
    /// drains its inbox.
    pub fn wait_for_inbox_blocking(
        &self,
        session_id: &str,
        timeout: std::time::Duration,
    ) -> Vec<InboxItem> {
        crate::block::block_on_timeout(self.wait_for_inbox(session_id), timeout).unwrap_or_default()
    }

    fn drain_inbox_where(
        &self,
        session_id: &str,
        wanted: impl Fn(&InboxItem) -> bool,
    ) -> Vec<InboxItem> {
        let items = self.update_session(session_id, |session| session.inbox.drain(wanted));
        items.unwrap_or_default()
    }

    /// Remembers an inbox without a session, at the expense of the oldest such one.
    fn adopt_orphan(&self, session_id: &str) {
        let mut open = self.inner.open.recover();
        let orphans = &mut open.orphans.0;
        orphans.retain(|orphan| &**orphan != session_id);
        orphans.push_back(Arc::from(session_id));
        if orphans.len() <= self.inner.config.orphan_inboxes_max {
            return;
        }
        let Some(oldest) = orphans.pop_front() else {
            return;
        };
        drop(open);
        let dropped = self.update_session(&oldest, |session| {
            let is_orphan = !session.is_kept() && !session.has_readers();
            if is_orphan {
                session.inbox.drain(|_| true).len()
            } else {
                0
            }
        });
        self.count_dropped_feedback(dropped.unwrap_or(0));
    }

    fn count_dropped_feedback(&self, dropped: usize) {
        self.inner
            .counters
            .feedback_dropped
            .fetch_add(dropped as u64, Ordering::Relaxed);
    }
}

/// A task that waits for a note. It leaves no trace when it gives up.
struct Waiting<'a> {
    bus: &'a EventBus,
    session_id: &'a str,
    /// The session it waits for, once it has seen it.
    generation: Option<u64>,
    waker: Option<Waker>,
}

impl Waiting<'_> {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Vec<InboxItem>> {
        let waited_for = self.generation;
        let (generation, items) = self.bus.with_session(self.session_id, |session| {
            let items = session.inbox.drain(|_| true);
            if items.is_empty() && waited_for.is_none_or(|other| other == session.generation) {
                session.inbox.wait(cx.waker());
            }
            (session.generation, items)
        });
        self.generation = Some(generation);
        self.waker = Some(cx.waker().clone());
        let was_closed = waited_for.is_some_and(|other| other != generation);
        if items.is_empty() && !was_closed {
            Poll::Pending
        } else {
            Poll::Ready(items)
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waker) = &self.waker {
            self.bus
                .update_session(self.session_id, |session| session.inbox.forget(waker));
        }
    }
}
