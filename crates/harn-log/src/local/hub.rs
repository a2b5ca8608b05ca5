//! Where readers wait.
//!
//! The hub keeps, for each topic somebody follows, the newest records and who waits
//! for more. A reader that keeps up is served from memory and never touches the
//! disk; one that fell behind reads from storage until it has caught up. Topics
//! nobody follows cost nothing.
//!
//! An *epoch* counts the changes of a topic. A reader remembers the epoch before it
//! reads from storage, or up to which it took everything from memory; as long as the
//! epoch is the same there is nothing new, so it may wait.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use crate::event::LogEvent;
use crate::name::{EventId, Topic};
use crate::record::{Record, Sealed};

use super::store::Affected;

/// Where readers of a log wait.
pub(crate) struct Hub {
    topics: Mutex<HashMap<Topic, Followed>>,
    queue_depth: usize,
    next_follower: AtomicU64,
}

/// Bytes of records kept of a topic, about.
const NEWEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A topic that somebody follows.
#[derive(Default)]
struct Followed {
    epoch: u64,
    /// The epoch in which the last of the newest records came.
    newest_epoch: u64,
    /// The newest records, without gaps.
    newest: VecDeque<Kept>,
    newest_bytes: usize,
    /// Everybody who follows, and how to wake them if they wait.
    followers: BTreeMap<u64, Option<Waker>>,
}

/// A record in memory. Shared, so that nothing is copied under the lock.
#[derive(Clone)]
struct Kept {
    record: Arc<KeptRecord>,
    bytes: usize,
}

struct KeptRecord {
    /// As it was written.
    sealed: Sealed,
    /// As it is read, by the first who takes it. Those who are far behind never do.
    event: OnceLock<LogEvent>,
}

impl Kept {
    fn id(&self) -> EventId {
        self.record.sealed.id
    }

    fn read(&self) -> Record {
        let KeptRecord { sealed, event } = &*self.record;
        (sealed.id, event.get_or_init(|| sealed.event()).clone())
    }
}

/// What a reader should do next.
pub(crate) enum Next {
    /// Hand these out.
    Take(Vec<Record>),
    /// Read from storage.
    Read,
    /// Wait until it is woken.
    Wait,
}

impl Hub {
    /// A hub that keeps `queue_depth` records of each topic.
    pub(crate) fn new(queue_depth: usize) -> Self {
        Self {
            topics: Mutex::default(),
            queue_depth,
            next_follower: AtomicU64::new(1),
        }
    }

    /// Begins to follow a topic.
    pub(crate) fn follow(self: &Arc<Self>, topic: &Topic) -> Follower {
        let id = self.next_follower.fetch_add(1, Ordering::Relaxed);
        let mut topics = self.lock();
        let followed = topics.entry(topic.clone()).or_default();
        followed.followers.insert(id, None);
        Follower {
            hub: Arc::clone(self),
            topic: topic.clone(),
            id,
            seen_epoch: None,
        }
    }

    /// Whether somebody follows a topic.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_followed(&self, topic: &Topic) -> bool {
        self.lock().contains_key(topic)
    }

    /// Tells the readers of a topic what was appended.
    pub(crate) fn publish<'a>(
        &self,
        topic: &Topic,
        appended: impl IntoIterator<Item = &'a Sealed>,
    ) {
        let mut appended = appended.into_iter().peekable();
        let mut topics = self.lock();
        let Some(followed) = topics.get_mut(topic) else {
            return;
        };
        if appended.peek().is_none() {
            return;
        }
        for sealed in appended {
            followed.keep(sealed, self.queue_depth);
        }
        let woken = followed.stir();
        followed.newest_epoch = followed.epoch;
        drop(topics);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Sends readers to look.
    pub(crate) fn stir(&self, affected: &Affected) {
        let mut topics = self.lock();
        let woken: Vec<_> = match affected {
            Affected::One(topic) => topics.get_mut(topic).map_or(Vec::new(), Followed::stir),
            Affected::All => topics.values_mut().flat_map(Followed::stir).collect(),
            Affected::Nobody => return,
        };
        drop(topics);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Forgets records that have been compacted away.
    pub(crate) fn forget_up_to(&self, topic: &Topic, before: EventId) {
        if let Some(followed) = self.lock().get_mut(topic) {
            followed.forget(|id| id > before);
        }
    }

    /// Forgets all records, for they may not be what is stored, and sends all readers
    /// to look.
    pub(crate) fn forget_all(&self) {
        for followed in self.lock().values_mut() {
            followed.forget(|_| false);
        }
        self.stir(&Affected::All);
    }

    /// No foreign code runs under the lock, so what it guards is whole after a panic.
    fn lock(&self) -> MutexGuard<'_, HashMap<Topic, Followed>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Followed {
    /// Notes a change; returns who is to be woken, after the lock is released.
    fn stir(&mut self) -> Vec<Waker> {
        self.epoch += 1;
        self.followers
            .values_mut()
            .filter_map(Option::take)
            .collect()
    }

    /// Forgets the newest records but some.
    fn forget(&mut self, is_kept: impl Fn(EventId) -> bool) {
        self.newest.retain(|kept| is_kept(kept.id()));
        self.newest_bytes = self.newest.iter().map(|kept| kept.bytes).sum();
    }

    /// Keeps a record, and lets older ones go where there are too many.
    fn keep(&mut self, sealed: &Sealed, queue_depth: usize) {
        let newest_id = self.newest.back().map(Kept::id);
        if newest_id.is_some_and(|id| id + 1 != sealed.id) {
            self.forget(|_| false); // Another process has appended in between.
        }
        let kept = Kept {
            record: Arc::new(KeptRecord {
                sealed: sealed.clone(),
                event: OnceLock::new(),
            }),
            bytes: sealed.payload_json().len() + sealed.headers_json.len(),
        };
        self.newest_bytes += kept.bytes;
        self.newest.push_back(kept);
        while self.newest.len() > queue_depth || self.newest_bytes > NEWEST_BYTES_MAX {
            let Some(oldest) = self.newest.pop_front() else {
                break;
            };
            self.newest_bytes -= oldest.bytes;
        }
    }

    /// The records after `from`, if all of them are at hand.
    fn take_after(&self, from: EventId) -> Option<Vec<Kept>> {
        let (first, last) = (self.newest.front()?.id(), self.newest.back()?.id());
        if from >= last || from + 1 < first {
            return None;
        }
        let start = usize::try_from(from + 1 - first).ok()?;
        Some(self.newest.range(start..).cloned().collect())
    }
}

/// One reader of a topic.
pub(crate) struct Follower {
    hub: Arc<Hub>,
    topic: Topic,
    id: u64,
    /// The epoch when it last began to read from storage.
    seen_epoch: Option<u64>,
}

impl Follower {
    /// What to do for the records after `from`. Looking and leaving the waker is one
    /// step, so that nothing can come in between.
    pub(crate) fn next(&mut self, from: EventId, waker: &Waker) -> Next {
        let mut topics = self.hub.lock();
        let Some(followed) = topics.get_mut(&self.topic) else {
            return Next::Read;
        };
        if let Some(kept) = followed.take_after(from) {
            // All there is, unless somebody else has appended since.
            self.seen_epoch = Some(followed.newest_epoch);
            drop(topics);
            return Next::Take(kept.iter().map(Kept::read).collect());
        }
        if self.seen_epoch != Some(followed.epoch) {
            self.seen_epoch = Some(followed.epoch);
            return Next::Read;
        }
        let replaced = followed.followers.insert(self.id, Some(waker.clone()));
        drop(topics);
        drop(replaced); // It may be the last of a task that owns another reader.
        Next::Wait
    }

    /// Storage may hold more than was read: do not wait, look again.
    pub(crate) fn look_again(&mut self) {
        self.seen_epoch = None;
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut topics = self.hub.lock();
        let Some(followed) = topics.get_mut(&self.topic) else {
            return;
        };
        let waker = followed.followers.remove(&self.id);
        let unused = match followed.followers.is_empty() {
            true => topics.remove(&self.topic),
            false => None,
        };
        drop(topics);
        drop((waker, unused));
    }
}
