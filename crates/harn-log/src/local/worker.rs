//! The threads that write and read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc as plain;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::error::LogError;
use crate::log::Result;
use crate::name::Topic;

use super::hub::Hub;
use super::store::Store;
use super::sync::{Synced, Then};
use super::{Changed, Counters};

/// Changes that can wait for the writer; whoever comes then waits in line.
const QUEUE_MAX: usize = 1024;

/// How a group ended.
type Committed = std::result::Result<(), Arc<LogError>>;
/// Runs a change, unless the group could not even begin, and returns how to tell its
/// caller once the group has ended.
type Run<S> = Box<dyn FnOnce(Result<&mut S>) -> Finish + Send>;
type Finish = Box<dyn FnOnce(&Committed)>;

enum Job<S> {
    /// A change, as part of a group.
    Change(Topic, Run<S>),
    /// Work between groups.
    Alone(Box<dyn FnOnce(&mut S) + Send>),
    /// A watched file has changed.
    Heard(String),
}

/// The thread that writes.
pub(super) struct Writer<S> {
    jobs: Option<mpsc::Sender<Job<S>>>,
    /// Where changes go that have to be synced before their callers are told; `None`
    /// if what is committed is safe.
    syncs: Option<mpsc::Sender<Then>>,
    hub: Arc<Hub>,
    thread: Option<JoinHandle<()>>,
}

impl<S: Store> Writer<S> {
    pub(super) fn start(
        store: S,
        hub: Arc<Hub>,
        counters: Arc<Counters>,
        syncs: Option<mpsc::Sender<Then>>,
    ) -> Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new().name("harn-log-write".to_owned());
        let desk = Desk {
            store,
            hub: Arc::clone(&hub),
            counters,
        };
        let thread = thread.spawn(move || desk.work(queue))?;
        Ok(Self {
            jobs: Some(jobs),
            syncs,
            hub,
            thread: Some(thread),
        })
    }

    /// Makes a change. The reply comes when the group it is in has been committed, and
    /// synced if that is wanted.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        topic: &Topic,
        wanted: Wanted,
        change: impl FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let (hub, name) = (Arc::clone(&self.hub), topic.clone());
        // Weak: a change that waits does not keep the syncer from ending.
        let syncs = self.syncs.as_ref().filter(|_| wanted == Wanted::Durable);
        let syncs = syncs.map(mpsc::Sender::downgrade);
        let run = move |store: Result<&mut S>| -> Finish {
            let changed = store.and_then(change);
            Box::new(move |committed| {
                let outcome = changed.and_then(|changed| {
                    committed.clone().map_err(LogError::Shared)?;
                    if !changed.appended.is_empty() {
                        hub.publish(&name, &changed.appended);
                    }
                    Ok(changed.outcome)
                });
                match (syncs, outcome) {
                    (Some(syncs), Ok(outcome)) => reply_when_synced(&syncs, reply, outcome),
                    (_, outcome) => {
                        let _nobody_may_wait_any_more = reply.send(outcome);
                    }
                }
            })
        };
        self.send(Job::Change(topic.clone(), Box::new(run))).await?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    /// Runs something between groups.
    pub(super) async fn run_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let run = move |store: &mut S| {
            let _nobody_may_wait_any_more = reply.send(work(store));
        };
        self.send(Job::Alone(Box::new(run))).await?;
        answer.await.map_err(|_| LogError::Closed)
    }

    /// A way to tell the writer that a watched file has changed.
    pub(super) fn ear(&self) -> impl Fn(&str) + Send + 'static + use<S> {
        // Weak: whoever watches does not keep the writer alive.
        let jobs = self.jobs.as_ref().map(mpsc::Sender::downgrade);
        move |file_name| {
            let jobs = jobs.as_ref().and_then(mpsc::WeakSender::upgrade);
            if let Some(jobs) = jobs {
                let _the_log_may_be_closing = jobs.blocking_send(Job::Heard(file_name.to_owned()));
            }
        }
    }

    async fn send(&self, job: Job<S>) -> Result<()> {
        let jobs = self.jobs.as_ref().ok_or(LogError::Closed)?;
        jobs.send(job).await.map_err(|_| LogError::Closed)
    }
}

/// When a caller wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// When its change is committed.
    Committed,
    /// When its change would survive a power cut.
    Durable,
}

fn reply_when_synced<T: Send + 'static>(
    syncs: &mpsc::WeakSender<Then>,
    reply: oneshot::Sender<Result<T>>,
    outcome: T,
) {
    let then = move |synced: Synced| {
        let answer = synced.map_err(LogError::Shared).map(|()| outcome);
        let _nobody_may_wait_any_more = reply.send(answer);
    };
    // If the syncer is gone the reply goes with it, and the caller hears of that.
    if let Some(syncs) = syncs.upgrade() {
        let _the_caller_hears = syncs.blocking_send(Box::new(then));
    }
}

impl<S> Drop for Writer<S> {
    fn drop(&mut self) {
        self.jobs = None;
        self.syncs = None;
        join(self.thread.take());
    }
}

/// What the writer has at hand.
struct Desk<S> {
    store: S,
    hub: Arc<Hub>,
    counters: Arc<Counters>,
}

impl<S: Store> Desk<S> {
    /// Whatever waits when the writer is free becomes its next group.
    fn work(mut self, mut queue: mpsc::Receiver<Job<S>>) {
        let mut jobs = Vec::new();
        while queue.blocking_recv_many(&mut jobs, S::GROUP_CHANGES_MAX) > 0 {
            let mut group = Vec::new();
            let mut heard = BTreeSet::new();
            for job in jobs.drain(..) {
                match job {
                    Job::Change(topic, run) => group.push((topic, run)),
                    Job::Heard(file_name) => drop(heard.insert(file_name)),
                    Job::Alone(run) => {
                        self.write_group(std::mem::take(&mut group));
                        run(&mut self.store);
                    }
                }
            }
            self.write_group(group);
            for file_name in heard {
                let affected = self.store.heard(&file_name);
                self.hub.stir(&affected);
            }
        }
    }

    fn write_group(&mut self, mut group: Vec<(Topic, Run<S>)>) {
        if !S::ONE_TOPIC_PER_GROUP {
            return self.commit_group(group);
        }
        // Stable: the changes of one topic keep their order, which is all that callers
        // who did not wait for each other can ask for.
        group.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut rest = group.into_iter().peekable();
        while let Some((topic, run)) = rest.next() {
            let mut same_topic = vec![(topic.clone(), run)];
            while let Some(next) = rest.next_if(|(next, _)| *next == topic) {
                same_topic.push(next);
            }
            self.commit_group(same_topic);
        }
    }

    fn commit_group(&mut self, group: Vec<(Topic, Run<S>)>) {
        let Some((topic, _)) = group.first() else {
            return;
        };
        self.counters.note_group(group.len());
        let store = &mut self.store;
        let begun = store.begin(topic).map_err(Arc::new);
        let changes = group.into_iter().map(|(_, run)| match &begun {
            Ok(()) => run(Ok(store)),
            Err(error) => run(Err(LogError::Shared(Arc::clone(error)))),
        });
        let finishes: Vec<Finish> = changes.collect();
        let committed = begun.and_then(|()| self.store.commit().map_err(Arc::new));
        for finish in finishes {
            finish(&committed);
        }
        let foreign = self.store.take_foreign();
        self.hub.stir(&foreign);
    }
}

type Look<R> = Box<dyn FnOnce(&R) + Send>;

/// The thread that reads.
pub(super) struct Reader<R> {
    /// Unbounded, and yet short: every caller waits for its answer before it asks again.
    looks: Option<plain::Sender<Look<R>>>,
    thread: Option<JoinHandle<()>>,
}

impl<R: Send + Sync + 'static> Reader<R> {
    pub(super) fn start(reader: Arc<R>) -> Result<Self> {
        let (looks, queue) = plain::channel::<Look<R>>();
        let thread = std::thread::Builder::new().name("harn-log-read".to_owned());
        let thread = thread.spawn(move || {
            for look in queue {
                look(&reader);
            }
        })?;
        Ok(Self {
            looks: Some(looks),
            thread: Some(thread),
        })
    }

    pub(super) fn send(&self, look: impl FnOnce(&R) + Send + 'static) -> Result<()> {
        let looks = self.looks.as_ref().ok_or(LogError::Closed)?;
        looks.send(Box::new(look)).map_err(|_| LogError::Closed)
    }
}

impl<R> Drop for Reader<R> {
    fn drop(&mut self) {
        self.looks = None;
        join(self.thread.take());
    }
}

/// Waits for a thread to finish what it has. The last owner of a log may be a task
/// that this very thread has just woken; that one cannot wait for itself.
pub(super) fn join(thread: Option<JoinHandle<()>>) {
    let Some(thread) = thread else { return };
    if thread.thread().id() != std::thread::current().id() {
        let _it_has_reported_its_panic = thread.join();
    }
}
