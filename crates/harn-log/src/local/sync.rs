//! Barriers: one sync for everybody who waits.

use std::sync::mpsc as plain;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

use crate::error::LogError;
use crate::log::Result;
use crate::name::EventId;

use super::Counters;
use super::store::SyncDisk;
use super::worker::join;

/// Barriers that can wait to be taken up; more of them wait in line.
const QUEUE_MAX: usize = 1024;

/// To wake so many takes a while, during which the next sync can begin already: another
/// thread does it. Fewer are woken on the spot, which is sooner.
const CROWD_MIN: usize = 16;

/// Crowds that can wait to be told; then the next sync waits for them.
const CROWDS_MAX: usize = 2;

/// What to do when everything committed before is safe, or cannot be made so.
pub(super) enum Then {
    /// Tell who has appended a record.
    Answer(EventId, oneshot::Sender<Told>),
    /// Anything else.
    Call(Box<dyn FnOnce(Synced) + Send>),
}

pub(super) type Synced = std::result::Result<(), Arc<LogError>>;

/// What became of a record that was appended.
pub(super) struct Told {
    outcome: Result<EventId>,
    /// Who else has waited and was not told yet.
    crowd: Option<Arc<Crowd>>,
}

impl Told {
    pub(super) fn alone(outcome: Result<EventId>) -> Self {
        let crowd = None;
        Self { outcome, crowd }
    }

    /// What became of it. Whoever hears of it tells the others: tasks wake each other for much
    /// less than a thread outside of them can, which is put aside with each of them that it
    /// wakes. That thread goes on all the same, should this task be held up.
    pub(super) fn pass_on(self) -> Result<EventId> {
        if let Some(crowd) = self.crowd {
            let others = std::mem::take(&mut *crowd.lock());
            others.for_each(|then| then.run(crowd.synced.clone(), None));
        }
        self.outcome
    }
}

/// Those who have waited for a sync, and how it ended.
pub(super) struct Crowd {
    /// Who was not told yet.
    waiting: Mutex<std::vec::IntoIter<Then>>,
    synced: Synced,
}

impl Crowd {
    fn tell(self: &Arc<Self>) {
        loop {
            let next = self.lock().next();
            let Some(then) = next else { return };
            then.run(self.synced.clone(), Some(self));
        }
    }

    fn lock(&self) -> MutexGuard<'_, std::vec::IntoIter<Then>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Then {
    fn run(self, synced: Synced, crowd: Option<&Arc<Crowd>>) {
        match self {
            Self::Answer(id, reply) => {
                let synced = synced.map_err(LogError::Shared);
                let _nobody_may_wait_any_more = reply.send(Told {
                    outcome: synced.map(|()| id),
                    crowd: crowd.cloned(),
                });
            }
            Self::Call(then) => then(synced),
        }
    }
}

/// The thread that syncs.
pub(super) struct Syncer {
    barriers: Option<mpsc::Sender<Vec<Then>>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    pub(super) fn start(disk: Arc<dyn SyncDisk>, counters: Arc<Counters>) -> Result<Self> {
        let (barriers, queue) = mpsc::channel(QUEUE_MAX);
        let (crowds, next_crowd) = plain::sync_channel(CROWDS_MAX);
        let teller = thread::Builder::new().name("harn-log-tell".to_owned());
        let tell = |crowd: Arc<Crowd>| crowd.tell();
        let teller = teller.spawn(move || next_crowd.into_iter().for_each(tell))?;
        let thread = thread::Builder::new().name("harn-log-sync".to_owned());
        let thread = thread.spawn(move || {
            run(queue, &*disk, &counters, &crowds);
            drop(crowds);
            join(Some(teller));
        })?;
        Ok(Self {
            barriers: Some(barriers),
            thread: Some(thread),
        })
    }

    /// Resolves when everything committed before would survive a power cut.
    pub(super) async fn barrier(&self) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let then = move |synced: Synced| {
            let _nobody_may_wait_any_more = reply.send(synced.map_err(LogError::Shared));
        };
        let barriers = self.barriers.as_ref().ok_or(LogError::Closed)?;
        let sent = barriers.send(vec![Then::Call(Box::new(then))]).await;
        sent.map_err(|_| LogError::Closed)?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    /// A way for the writer to leave the end of a group to the syncer.
    pub(super) fn queue(&self) -> Option<mpsc::WeakSender<Vec<Then>>> {
        self.barriers.as_ref().map(mpsc::Sender::downgrade)
    }
}

/// Everybody who waits when a sync begins is served by it; who comes later waits for
/// the next one, because the sync under way may have passed their records already.
fn run(
    mut queue: mpsc::Receiver<Vec<Then>>,
    disk: &dyn SyncDisk,
    counters: &Counters,
    crowds: &plain::SyncSender<Arc<Crowd>>,
) {
    let mut waiting = Vec::new();
    while queue.blocking_recv_many(&mut waiting, QUEUE_MAX) > 0 {
        let synced = disk.sync().map_err(Arc::new);
        let count = waiting.iter().map(Vec::len).sum();
        counters.note_sync(count);
        let everybody = waiting.drain(..).flatten();
        if count <= CROWD_MIN {
            everybody.for_each(|then| then.run(synced.clone(), None));
            continue;
        }
        let everybody: Vec<Then> = everybody.collect();
        let crowd = Crowd {
            waiting: Mutex::new(everybody.into_iter()),
            synced,
        };
        let sent = crowds.send(Arc::new(crowd));
        sent.expect("it listens as long as we speak");
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.barriers = None;
        join(self.thread.take());
    }
}
