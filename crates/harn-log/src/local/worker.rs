//! The threads that write and read.

use std::collections::BTreeSet;
use std::slice;
use std::sync::mpsc as plain;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use crate::block::block_on_until;
use crate::error::LogError;
use crate::log::Result;
use crate::name::{EventId, Topic};
use crate::record::{Draft, Sealed};

use super::hub::Hub;
use super::store::Store;
use super::sync::{Then, Told};
use super::{Changed, Counters};

/// Changes that can wait for the writer; whoever comes then waits in line.
const QUEUE_MAX: usize = 1024;

/// How a group ended.
type Committed = std::result::Result<(), Arc<LogError>>;
/// Runs a change, unless the group could not even begin.
type Run<S> = Box<dyn FnOnce(Result<&mut S>) -> Ran + Send>;
/// Tells the caller, or returns how to tell it once everything is synced.
type Finish = Box<dyn FnOnce(&Committed) -> Option<Then>>;

/// A part of a group.
enum Change<S> {
    /// One record to append. Nearly all changes are this one, so it has no closures.
    Append(Append),
    /// Anything else.
    Run(Topic, Run<S>),
}

struct Append {
    topic: Topic,
    draft: Draft,
    waits_for_sync: bool,
    reply: oneshot::Sender<Told>,
}

impl<S: Store> Change<S> {
    fn topic(&self) -> &Topic {
        match self {
            Self::Append(append) => &append.topic,
            Self::Run(topic, _) => topic,
        }
    }

    /// Makes the change, unless the group could not even begin.
    fn make(self, store: Result<&mut S>) -> (Topic, Ran) {
        match self {
            Self::Run(topic, run) => (topic, run(store)),
            Self::Append(append) => {
                let appended =
                    store.and_then(|store| store.append_one(&append.topic, append.draft));
                let ran = Ran::Appended {
                    appended,
                    waits_for_sync: append.waits_for_sync,
                    reply: append.reply,
                };
                (append.topic, ran)
            }
        }
    }
}

/// A change that has been made, but not committed.
enum Ran {
    Appended {
        appended: Result<Sealed>,
        waits_for_sync: bool,
        reply: oneshot::Sender<Told>,
    },
    Changed {
        appended: Vec<Sealed>,
        finish: Finish,
    },
}

impl Ran {
    /// What readers may want to know.
    fn appended(&self) -> &[Sealed] {
        match self {
            Self::Appended { appended, .. } => appended.as_ref().map_or(&[], slice::from_ref),
            Self::Changed { appended, .. } => appended,
        }
    }

    /// Tells the caller, or returns how to tell it once everything is synced.
    fn finish(self, committed: &Committed) -> Option<Then> {
        let (appended, waits_for_sync, reply) = match self {
            Self::Changed { finish, .. } => return finish(committed),
            Self::Appended {
                appended,
                waits_for_sync,
                reply,
            } => (appended, waits_for_sync, reply),
        };
        let committed = committed.clone().map_err(LogError::Shared);
        match appended.and_then(|sealed| committed.map(|()| sealed.id)) {
            Ok(id) if waits_for_sync => Some(Then::Answer(id, reply)),
            outcome => {
                let _nobody_may_wait_any_more = reply.send(Told::alone(outcome));
                None
            }
        }
    }
}

enum Job<S> {
    /// A change, as part of a group.
    Change(Change<S>),
    /// Changes that belong into one group, as far as there may be such a group.
    Changes(Vec<Change<S>>),
    /// Work between groups.
    Alone(Box<dyn FnOnce(&mut S) + Send>),
    /// A watched file has changed.
    Heard(String),
    /// Something will be due.
    #[cfg(feature = "sqlite")]
    Tend,
}

/// The thread that writes.
pub(super) struct Writer<S> {
    jobs: Option<mpsc::Sender<Job<S>>>,
    /// Whether what is committed still has to be synced.
    has_syncer: bool,
    thread: Option<JoinHandle<()>>,
}

impl<S: Store> Writer<S> {
    pub(super) fn start(
        store: S,
        hub: Arc<Hub>,
        counters: Arc<Counters>,
        syncs: Option<mpsc::WeakSender<Vec<Then>>>,
    ) -> Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new().name("harn-log-write".to_owned());
        let has_syncer = syncs.is_some();
        let desk = Desk {
            store,
            hub,
            counters,
            syncs,
        };
        let thread = thread.spawn(move || desk.work(queue))?;
        Ok(Self {
            jobs: Some(jobs),
            has_syncer,
            thread: Some(thread),
        })
    }

    /// Appends one record. The reply comes when the group it is in has been committed, and
    /// synced if that is wanted.
    pub(super) async fn append(
        &self,
        topic: &Topic,
        draft: Draft,
        wanted: Wanted,
    ) -> Result<EventId> {
        let (reply, answer) = oneshot::channel();
        let append = Append {
            topic: topic.clone(),
            draft,
            waits_for_sync: self.has_syncer && wanted == Wanted::Durable,
            reply,
        };
        self.send(Job::Change(Change::Append(append))).await?;
        let told = answer.await.map_err(|_| LogError::Closed)?;
        told.pass_on()
    }

    /// Makes a change. The reply comes when the group it is in has been committed.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        topic: &Topic,
        change: impl FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let change = Self::telling(topic.clone(), change, move |outcome| {
            let _nobody_may_wait_any_more = reply.send(outcome);
        });
        self.send(Job::Change(change)).await?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    /// Makes changes, in one group if they may be in one. The replies come when they have been
    /// committed.
    pub(super) async fn changes<T: Send + 'static, C>(
        &self,
        changes: Vec<(Topic, C)>,
    ) -> Vec<Result<T>>
    where
        C: FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let changes = Self::telling_together(changes, |outcomes| {
            let _nobody_may_wait_any_more = reply.send(outcomes);
        });
        // If nobody takes them, the outcomes say so.
        let _the_outcomes_say = self.send(Job::Changes(changes)).await;
        answer.await.unwrap_or_default()
    }

    /// A place in the queue, if there is one without waiting.
    #[cfg(feature = "sqlite")]
    pub(super) fn place(&self) -> Option<Place<'_, S>> {
        let permit = self.jobs.as_ref()?.try_reserve().ok()?;
        Some(Place { permit })
    }

    /// Changes whose outcomes are told together, when there are all of them. That may be on the
    /// thread that writes.
    fn telling_together<T: Send + 'static, C>(
        changes: Vec<(Topic, C)>,
        then: impl FnOnce(Vec<Result<T>>) + Send + 'static,
    ) -> Vec<Change<S>>
    where
        C: FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
    {
        let outcomes = Arc::new(Outcomes::new(changes.len(), then));
        let changes = changes.into_iter().enumerate();
        let telling = changes.map(|(at, (topic, change))| {
            let outcomes = Arc::clone(&outcomes);
            Self::telling(topic, change, move |outcome| outcomes.note(at, outcome))
        });
        telling.collect()
    }

    /// A change, and whom to tell its outcome.
    fn telling<T: Send + 'static>(
        topic: Topic,
        change: impl FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
        tell: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Change<S> {
        let run = move |store: Result<&mut S>| {
            let (outcome, appended) = match store.and_then(change) {
                Ok(changed) => (Ok(changed.outcome), changed.appended),
                Err(error) => (Err(error), Vec::new()),
            };
            let finish = move |committed: &Committed| -> Option<Then> {
                let committed = committed.clone().map_err(LogError::Shared);
                tell(outcome.and_then(|outcome| committed.map(|()| outcome)));
                None
            };
            Ran::Changed {
                appended,
                finish: Box::new(finish),
            }
        };
        Change::Run(topic, Box::new(run))
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

    /// Lets the writer see that something will be due. If there is no place in the queue it is
    /// busy, and sees to it when it is not.
    #[cfg(feature = "sqlite")]
    pub(super) fn tend(&self) {
        if let Some(jobs) = &self.jobs {
            let _it_sees_by_itself = jobs.try_send(Job::Tend);
        }
    }

    async fn send(&self, job: Job<S>) -> Result<()> {
        let jobs = self.jobs.as_ref().ok_or(LogError::Closed)?;
        jobs.send(job).await.map_err(|_| LogError::Closed)
    }
}

/// A place in the queue of the writer.
#[cfg(feature = "sqlite")]
pub(super) struct Place<'a, S> {
    permit: mpsc::Permit<'a, Job<S>>,
}

#[cfg(feature = "sqlite")]
impl<S: Store> Place<'_, S> {
    /// Makes changes, as [`Writer::changes`] does. Nobody waits: `then` is called with what came
    /// of them, on the thread that wrote.
    pub(super) fn change<T: Send + 'static, C>(
        self,
        changes: Vec<(Topic, C)>,
        then: impl FnOnce(Vec<Result<T>>) + Send + 'static,
    ) where
        C: FnOnce(&mut S) -> Result<Changed<T>> + Send + 'static,
    {
        let changes = Writer::telling_together(changes, then);
        self.permit.send(Job::Changes(changes));
    }
}

/// Told when there are all the outcomes of several changes.
type ToldAll<T> = Box<dyn FnOnce(Vec<Result<T>>) + Send>;

/// What came of several changes. Each of them holds it until its outcome is known, and whoever
/// lets go last tells: so it is told also if the writer is gone and nothing came of them.
struct Outcomes<T> {
    outcomes: Mutex<Vec<Option<Result<T>>>>,
    then: Mutex<Option<ToldAll<T>>>,
}

impl<T> Outcomes<T> {
    fn new(count: usize, then: impl FnOnce(Vec<Result<T>>) + Send + 'static) -> Self {
        Self {
            outcomes: Mutex::new((0..count).map(|_| None).collect()),
            then: Mutex::new(Some(Box::new(then))),
        }
    }

    fn note(&self, at: usize, outcome: Result<T>) {
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes[at] = Some(outcome);
    }
}

impl<T> Drop for Outcomes<T> {
    fn drop(&mut self) {
        let outcomes = std::mem::take(
            self.outcomes
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        let outcomes = outcomes.into_iter();
        let outcomes = outcomes.map(|outcome| outcome.unwrap_or(Err(LogError::Closed)));
        let then = self.then.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(then) = then.take() {
            then(outcomes.collect());
        }
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

impl<S> Drop for Writer<S> {
    fn drop(&mut self) {
        self.jobs = None;
        join(self.thread.take());
    }
}

/// What the writer has at hand.
struct Desk<S> {
    store: S,
    hub: Arc<Hub>,
    counters: Arc<Counters>,
    /// Where changes go that have to be synced before their callers are told, one message
    /// for each group; `None` if what is committed is safe. Weak: a writer that is slow to
    /// end does not keep the syncer from ending.
    syncs: Option<mpsc::WeakSender<Vec<Then>>>,
}

impl<S: Store> Desk<S> {
    /// Whatever waits when the writer is free becomes its next group.
    fn work(mut self, mut queue: mpsc::Receiver<Job<S>>) {
        let mut jobs = Vec::new();
        loop {
            let more = queue.recv_many(&mut jobs, S::GROUP_CHANGES_MAX);
            match block_on_until(more, self.store.due()) {
                Some(0) => return self.store.close(),
                Some(_) => {}
                None => {
                    self.tend();
                    continue;
                }
            }
            let mut group = Vec::new();
            let mut heard = BTreeSet::new();
            for job in jobs.drain(..) {
                match job {
                    Job::Change(change) => group.push(change),
                    Job::Changes(changes) => group.extend(changes),
                    Job::Heard(file_name) => drop(heard.insert(file_name)),
                    #[cfg(feature = "sqlite")]
                    Job::Tend => {}
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
            // Whoever is never idle has to see to it as well.
            if self.store.due().is_some_and(|due| due <= Instant::now()) {
                self.tend();
            }
        }
    }

    fn tend(&mut self) {
        self.store.tend();
        let foreign = self.store.take_foreign();
        self.hub.stir(&foreign);
    }

    fn write_group(&mut self, mut group: Vec<Change<S>>) {
        let is_one_topic = group.windows(2).all(|two| two[0].topic() == two[1].topic());
        if is_one_topic || !S::ONE_TOPIC_PER_GROUP {
            return self.commit_group(group);
        }
        // Stable: the changes of one topic keep their order, which is all that callers
        // who did not wait for each other can ask for.
        group.sort_by(|left, right| left.topic().cmp(right.topic()));
        while let Some(last) = group.last() {
            let start = group.partition_point(|change| change.topic() < last.topic());
            let same_topic = group.split_off(start);
            self.commit_group(same_topic);
        }
    }

    fn commit_group(&mut self, group: Vec<Change<S>>) {
        let Some(topic) = group.first().map(Change::topic) else {
            return;
        };
        self.counters.note_group(group.len());
        let store = &mut self.store;
        let begun = store.begin(topic).map_err(Arc::new);
        let changes = group.into_iter().map(|change| match &begun {
            Ok(()) => change.make(Ok(store)),
            Err(error) => change.make(Err(LogError::Shared(Arc::clone(error)))),
        });
        let changes: Vec<_> = changes.collect();
        let committed = begun.and_then(|()| self.store.commit().map_err(Arc::new));
        self.finish_group(changes, &committed);
        let foreign = self.store.take_foreign();
        self.hub.stir(&foreign);
    }

    /// Tells readers and callers how a group ended.
    fn finish_group(&self, changes: Vec<(Topic, Ran)>, committed: &Committed) {
        if committed.is_ok() {
            for same_topic in changes.chunk_by(|(left, _), (right, _)| left == right) {
                let appended = same_topic.iter().flat_map(|(_, ran)| ran.appended());
                self.hub.publish(&same_topic[0].0, appended);
            }
        }
        let changes = changes.into_iter();
        let waiting: Vec<Then> = changes
            .filter_map(|(_, ran)| ran.finish(committed))
            .collect();
        let syncs = self.syncs.as_ref().filter(|_| !waiting.is_empty());
        // If the syncer is gone the replies go with it, and the callers hear of that.
        if let Some(syncs) = syncs.and_then(mpsc::WeakSender::upgrade) {
            let _the_callers_hear = syncs.blocking_send(waiting);
        }
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
