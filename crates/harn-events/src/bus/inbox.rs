//! Messages for the loop, the one way for a reader to influence a run.
//!
//! Every session has one inbox with one order, whoever pushes and from whichever
//! thread. The loop drains it before each model call.

use std::collections::VecDeque;
use std::task::Waker;

use serde_json::Value;

/// A note that waits for the session's next model call.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxItem {
    /// Position in the session's inbox, from 1.
    pub sequence: u64,
    /// Session it is for.
    pub session_id: String,
    /// Feedback class; `prefill_assistant` sets the next call's prefill.
    pub kind: String,
    /// Text.
    pub content: String,
    /// Who pushed it.
    pub source: InboxSource,
    /// When it was pushed.
    pub ts_ms: i64,
    /// Structured detail.
    pub payload: Option<Value>,
    /// How it wants to be delivered.
    pub delivery: Option<String>,
}

/// Where a feedback item came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxSource {
    /// The loop's own thread, for instance the script builtin.
    Loop,
    /// Anywhere else: long-running tools, policies, hosts.
    Outside,
}

/// The inbox of one session.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    items: VecDeque<InboxItem>,
    pushed: u64,
    /// Tasks that wait; each takes itself off the list when it has waited enough.
    wakers: Vec<Waker>,
}

impl Inbox {
    /// Adds an item. Returns how many old ones had to go for it, and whom to wake
    /// once nothing is locked.
    pub(super) fn push(&mut self, mut item: InboxItem, items_max: usize) -> (usize, Vec<Waker>) {
        self.pushed += 1;
        item.sequence = self.pushed;
        let excess = (self.items.len() + 1).saturating_sub(items_max.max(1));
        self.items.drain(..excess);
        self.items.push_back(item);
        (excess, self.wakers.clone())
    }

    pub(super) fn drain(&mut self, wanted: impl Fn(&InboxItem) -> bool) -> Vec<InboxItem> {
        let (taken, kept) = std::mem::take(&mut self.items)
            .into_iter()
            .partition(wanted);
        self.items = kept;
        taken.into()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.wakers.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn wait(&mut self, waker: &Waker) {
        self.forget(waker);
        self.wakers.push(waker.clone());
    }

    pub(super) fn forget(&mut self, waker: &Waker) {
        self.wakers.retain(|other| !other.will_wake(waker));
    }
}

impl Drop for Inbox {
    /// Whoever still waits learns that nothing will come.
    fn drop(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

/// As `(kind, content)`, the form the feedback functions return.
pub(super) fn pairs(items: Vec<InboxItem>) -> Vec<(String, String)> {
    items
        .into_iter()
        .map(|item| (item.kind, item.content))
        .collect()
}
