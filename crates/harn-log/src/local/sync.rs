//! Barriers: one sync for everybody who waits.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::error::LogError;
use crate::log::Result;

use super::Counters;
use super::store::SyncDisk;
use super::worker::join;

/// Barriers that can wait to be taken up; more of them wait in line.
const QUEUE_MAX: usize = 1024;

/// What to do when everything committed before is safe, or cannot be made so.
pub(super) type Then = Box<dyn FnOnce(Synced) + Send>;
pub(super) type Synced = std::result::Result<(), Arc<LogError>>;

/// The thread that syncs.
pub(super) struct Syncer {
    barriers: Option<mpsc::Sender<Then>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    pub(super) fn start(disk: Arc<dyn SyncDisk>, counters: Arc<Counters>) -> Result<Self> {
        let (barriers, queue) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new().name("harn-log-sync".to_owned());
        let thread = thread.spawn(move || run(queue, &*disk, &counters))?;
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
        let sent = barriers.send(Box::new(then)).await;
        sent.map_err(|_| LogError::Closed)?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    /// A way for the writer to leave the end of a change to the syncer.
    pub(super) fn queue(&self) -> Option<mpsc::Sender<Then>> {
        self.barriers.clone()
    }
}

/// Everybody who waits when a sync begins is served by it; who comes later waits for
/// the next one, because the sync under way may have passed their records already.
fn run(mut queue: mpsc::Receiver<Then>, disk: &dyn SyncDisk, counters: &Counters) {
    let mut waiting = Vec::new();
    while queue.blocking_recv_many(&mut waiting, QUEUE_MAX) > 0 {
        let synced = disk.sync().map_err(Arc::new);
        counters.note_sync(waiting.len());
        for then in waiting.drain(..) {
            then(synced.clone());
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.barriers = None;
        join(self.thread.take());
    }
}
