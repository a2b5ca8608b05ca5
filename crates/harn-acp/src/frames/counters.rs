//! How often each rule of the frames was applied.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened on the connections of one agent. Only ever counts up.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Messages that were passed on.
    pub(crate) accepted: Count,
    /// Frames that were larger than the limit.
    pub(crate) too_large: Count,
    /// Frames that nest deeper than the limit.
    pub(crate) too_deep: Count,
    /// Frames that are no JSON.
    pub(crate) unparsable: Count,
    /// Frames that are JSON and no message, answered with an error.
    pub(crate) invalid: Count,
    /// Notifications that are none, that nobody knows or that make no sense, dropped without an
    /// answer.
    pub(crate) notifications_dropped: Count,
    /// Answers to questions nobody asked.
    pub(crate) answers_dropped: Count,
    /// Requests beyond those that may be open at a time.
    pub(crate) overload: Count,
    /// Frames of ours that were too large to send.
    pub(crate) unsendable: Count,
    /// Times that updates were held back because the peer reads slowly.
    pub(crate) held_back: Count,
    /// Peers that were cut off because they do not read.
    pub(crate) cut_off: Count,
}

impl Counters {
    /// All of them by name, for a person to read.
    pub(crate) fn all(&self) -> [(&'static str, u64); 11] {
        [
            ("accepted", self.accepted.get()),
            ("too_large", self.too_large.get()),
            ("too_deep", self.too_deep.get()),
            ("unparsable", self.unparsable.get()),
            ("invalid", self.invalid.get()),
            ("notifications_dropped", self.notifications_dropped.get()),
            ("answers_dropped", self.answers_dropped.get()),
            ("overload", self.overload.get()),
            ("unsendable", self.unsendable.get()),
            ("held_back", self.held_back.get()),
            ("cut_off", self.cut_off.get()),
        ]
    }
}

/// One number that several tasks add to.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// One more.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many so far.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
