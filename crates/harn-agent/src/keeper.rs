//! Writes what sessions do into the event log, without making them wait.
//!
//! ```text
//! journals ─┐          ┌─► one thread, when nobody waits ─┐
//!           ├─► queue ─┤                                  ├─► a batch per topic ─► log
//! events ───┘          └─► whoever takes a barrier ───────┘
//! barrier ◄── told when everything before it is durable
//! ```
//!
//! A run hands over a record in well under a microsecond and takes a barrier where going on
//! without it could repeat a side effect or promise what may be lost. Records that pile up
//! meanwhile are written together, so a run costs as many syncs as it takes barriers, not as it
//! has events. For the same reason nobody hurries while no barrier waits: with some logs every
//! write is a sync.
//!
//! Whoever takes a barrier writes what has gathered itself, where the log can do that and few
//! sessions are at work. Otherwise it hands it over and is told by the log itself, where the log
//! can do that: every thread in between would have to be woken first. There is one write
//! under way at a time, whoever began it. Otherwise what came later could be written though what
//! came before it was not.
//!
//! What cannot be written stays in the queue and is tried again with the next record or
//! barrier. A queue that is full refuses records at its door, before they have an index, so
//! that what is stored never has a gap.

mod claims;
mod kept;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use harn_events::{AgentEventLog, LogFailure, SESSION_HEADER};
use harn_log::{
    AnyEventLog, AppendSurvives, Batch, ClaimScope, Draft, EventLog, Joined, LogError, LogEvent,
    Topic, block_on, join,
};
use tokio::sync::oneshot;

use crate::event_log::LoggedSessions;
use crate::session::{JOURNAL_TOPIC_PREFIX, JournalKey, LoggedSession, logged_session};
pub use claims::{CannotClaim, SessionClaim, describe_owner};
pub use kept::KeptSessions;
pub(crate) use kept::session_headers;

/// Records that may wait to be written.
const QUEUE_RECORDS_MAX: usize = 65_536;

/// Records that are written without waiting for more.
const GATHERED_RECORDS_MAX: usize = 1024;

/// The topics of a session, and those of one that has ended just before.
const FEW_TOPICS: usize = 4;

/// How long a record waits for others to be written with, if no barrier comes; also if somebody
/// who does not wait wants it to be durable. To be earlier then, every run would have to wake the
/// thread once more.
const GATHERING_TIME: Duration = Duration::from_millis(5);

/// Opens the log that sessions are kept in. `None`: it cannot be opened, which whoever gives
/// this tells the operator.
pub type OpenLog = Arc<dyn Fn() -> Option<Arc<AnyEventLog>> + Send + Sync>;

/// Writes what sessions do into the event log.
pub struct Keeper {
    shared: Arc<Shared>,
    /// The thread, and whether there is one: asked with every record.
    thread: Mutex<Option<JoinHandle<()>>>,
    is_started: AtomicBool,
    /// Who lends it its log and its thread, if somebody does.
    lender: Option<Arc<Keeper>>,
    /// Whether it takes nothing any more.
    is_fenced: AtomicBool,
    /// Who claims sessions here; made with the first claim. Keepers that are lent have that of
    /// their lender, or one of their own.
    scope: Arc<OnceLock<ClaimScope>>,
}

/// Gets the key that journals are proved with, when the first session begins. `None`: there is
/// none, which whoever gives this tells the operator.
pub type OpenProofs = Arc<dyn Fn() -> Option<Proofs> + Send + Sync>;

/// How the journals of sessions prove who wrote them.
#[derive(Clone, Copy, Debug)]
pub struct Proofs {
    /// The key of this machine.
    pub key: JournalKey,
    /// Whether a journal that somebody else has changed is resumed all the same.
    pub accept_changed: bool,
}

struct Shared {
    open: OpenLog,
    /// What came of opening it. Nothing is opened before the first session begins: most
    /// programs have none, and should leave no file behind.
    log: OnceLock<Option<Arc<AnyEventLog>>>,
    open_proofs: OnceLock<OpenProofs>,
    /// What came of opening them.
    proofs: OnceLock<Option<Proofs>>,
    queue: Mutex<Queue>,
    rung: Condvar,
}

/// What became of the records before a barrier.
type Written = Result<(), Arc<LogError>>;

#[derive(Default)]
struct Queue {
    records: Vec<Draft>,
    barriers: Vec<oneshot::Sender<Written>>,
    /// The same for those who want records to be in the log, durable or not.
    handovers: Vec<oneshot::Sender<Written>>,
    /// Those that what is being written is written for.
    served: Vec<oneshot::Sender<Written>>,
    /// When the first of the records came.
    since: Option<Instant>,
    /// Somebody who does not wait wants the records to be durable.
    is_sync_wanted: bool,
    /// Whether the last attempt to write failed. Nothing is tried again by itself: the next
    /// record or barrier does that.
    is_failing: bool,
    /// Whether the operator knows that the last attempts to write failed.
    is_failure_told: bool,
    /// Whether some of the records were tried before. A write that failed may have been done
    /// all the same, as when its answer was lost.
    is_retry: bool,
    /// Whether records that are no longer here are being written.
    is_writing: bool,
    is_closed: bool,
    /// Claims of sessions that are over, whose last records are here or are being written.
    ending_claims: Vec<claims::EndingClaim>,
    /// What the thread is doing. To wake it costs more than all else, so nobody does in vain.
    thread: Thread,
}

/// What the thread is doing.
#[derive(Clone, Copy, Default)]
enum Thread {
    /// It looks at the queue again before it sleeps.
    #[default]
    Awake,
    /// It looks at the queue then, or when it is rung.
    AsleepUntil(Instant),
    /// It looks at the queue when it is rung.
    Asleep,
}

/// What was taken out of the queue to be written.
struct Taken {
    records: Vec<Draft>,
    /// Whether somebody wants it to be durable.
    durably: bool,
    /// Whether some of it was tried before.
    is_retry: bool,
}

/// Why a record was not taken.
#[derive(Debug, thiserror::Error)]
#[error("{QUEUE_RECORDS_MAX} records wait to be written, and the log does not take them")]
struct QueueFull;

/// There is no log that could be written to, or not any more.
#[derive(Debug, thiserror::Error)]
#[error("the log is not open")]
struct Closed;

impl Keeper {
    /// Keeps sessions in a log.
    pub fn new(log: Arc<AnyEventLog>) -> Arc<Self> {
        Self::opening(Arc::new(move || Some(Arc::clone(&log))))
    }

    /// Keeps sessions in a log that is opened when the first of them begins.
    pub fn opening(open: OpenLog) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::new(Shared {
                open,
                log: OnceLock::new(),
                open_proofs: OnceLock::new(),
                proofs: OnceLock::new(),
                queue: Mutex::default(),
                rung: Condvar::new(),
            }),
            thread: Mutex::default(),
            is_started: AtomicBool::new(false),
            lender: None,
            is_fenced: AtomicBool::new(false),
            scope: Arc::default(),
        })
    }

    /// A keeper that writes with the log and the thread of this one, in one order with it, and
    /// shares its sessions. It can be [fenced](Self::fence) off without the others.
    pub fn lend(self: &Arc<Self>) -> Arc<Self> {
        self.lend_with(Arc::clone(&self.scope))
    }

    /// The same for the programs of a conversation, which share no session with those of others:
    /// what one of them writes, the others must not. A conversation is known by its name, so one
    /// that is closed and opened again does not exclude itself.
    pub fn lend_apart(self: &Arc<Self>, conversation: &str) -> Arc<Self> {
        self.lend_with(Arc::new(OnceLock::from(ClaimScope::named(conversation))))
    }

    fn lend_with(self: &Arc<Self>, scope: Arc<OnceLock<ClaimScope>>) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::clone(&self.shared),
            thread: Mutex::default(),
            is_started: AtomicBool::new(false),
            lender: Some(Arc::clone(self)),
            is_fenced: AtomicBool::new(false),
            scope,
        })
    }

    /// From now on it takes nothing. What a program does that was given up must not get between
    /// the records of the one that goes on with its session.
    pub fn fence(&self) {
        self.is_fenced.store(true, Ordering::Release);
    }

    /// The log it writes to; `None` if it cannot be opened.
    pub fn log(&self) -> Option<&Arc<AnyEventLog>> {
        self.shared.log()
    }

    /// The log as people know it.
    pub(crate) fn log_name(&self) -> String {
        let Some(log) = self.log() else {
            return String::new();
        };
        let description = log.describe();
        let location = description.location;
        location.unwrap_or_else(|| format!("in {}", description.backend))
    }

    /// Takes a record. It is written soon, after everything that was taken before.
    ///
    /// # Errors
    /// Too many wait already; this one is not among them.
    pub fn put(&self, record: Draft) -> Result<(), LogFailure> {
        if self.log().is_none() || self.is_fenced.load(Ordering::Acquire) {
            return Err(Closed.into());
        }
        self.start()?;
        let mut queue = self.shared.queue();
        if queue.records.len() >= QUEUE_RECORDS_MAX {
            return Err(QueueFull.into());
        }
        queue.records.push(record);
        // Whoever gathers is woken by the first record and by one too many.
        let was_failing = std::mem::replace(&mut queue.is_failing, false);
        let is_first = was_failing || queue.since.is_none();
        if is_first {
            queue.since = Some(Instant::now());
        }
        if is_first || queue.records.len() >= GATHERED_RECORDS_MAX {
            self.shared.ring(queue);
        }
        Ok(())
    }

    /// The same with an event whose JSON is not made yet.
    ///
    /// # Errors
    /// Also: it could be written, but not be read again.
    pub fn put_event(&self, topic: &Topic, event: LogEvent) -> Result<(), LogFailure> {
        self.put(Draft::new(topic, event)?)
    }

    /// Resolves when everything taken so far would survive a power cut.
    ///
    /// # Errors
    /// The log does not take it. It is tried again with the next record.
    ///
    /// # Cancel safety
    /// Dropping this future only stops waiting; what has gathered is written all the same.
    pub async fn sync(&self) -> Result<(), LogFailure> {
        let (sender, receiver) = oneshot::channel();
        if self.log().is_none() {
            return Err(Closed.into());
        }
        self.start()?;
        {
            let mut queue = self.shared.queue();
            queue.barriers.push(sender);
            queue.is_failing = false;
        }
        self.shared.serve_here();
        match receiver.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Closed.into()),
        }
    }

    /// Resolves when everything taken so far is in the log, so that the death of this process
    /// takes nothing of it. A power cut may.
    ///
    /// # Errors
    /// The log does not take it. It is tried again with the next record.
    ///
    /// # Cancel safety
    /// Dropping this future only stops waiting; what has gathered is written all the same.
    pub async fn hand_over(&self) -> Result<(), LogFailure> {
        let log = self.log().ok_or(Closed)?;
        match log.append_survives() {
            AppendSurvives::Nothing => return Ok(()),
            // There is nothing less, and it may be written on this thread.
            AppendSurvives::PowerCut => return self.sync().await,
            AppendSurvives::ProcessDeath => self.start()?,
        }
        let (sender, receiver) = oneshot::channel();
        {
            let mut queue = self.shared.queue();
            if queue.records.is_empty() && !queue.is_writing {
                return Ok(());
            }
            queue.handovers.push(sender);
            queue.is_failing = false;
            self.shared.ring(queue);
        }
        match receiver.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Closed.into()),
        }
    }

    /// A session as its journal has it, with what still waits to be written.
    ///
    /// # Errors
    /// The log cannot be read or written.
    pub(crate) fn session_in(
        &self,
        topic: &Topic,
        session_id: &str,
        look: impl FnMut(&[u8]),
    ) -> Result<Option<LoggedSession>, LogFailure> {
        let is_behind = self.shared.queue().has_unwritten(topic.as_str());
        if is_behind {
            block_on(self.sync())?;
        }
        let log = self.log().ok_or(Closed)?;
        Ok(block_on(logged_session(&**log, session_id, look))?)
    }

    /// From now on the records of sessions prove who wrote them, and what is resumed is
    /// checked. Before the first session is opened; later it changes nothing.
    pub fn prove_with(&self, open: OpenProofs) {
        let _set_before = self.shared.open_proofs.set(open);
    }

    /// How records prove who wrote them.
    pub(crate) fn proofs(&self) -> Option<Proofs> {
        let open = || self.shared.open_proofs.get().and_then(|open| open());
        *self.shared.proofs.get_or_init(open)
    }

    /// Starts the thread when it is first needed. Without it nothing is taken: nobody would
    /// write it, and who waits at a barrier would wait for ever.
    fn start(&self) -> Result<(), LogFailure> {
        if self.is_started.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Some(lender) = &self.lender {
            lender.start()?;
            self.is_started.store(true, Ordering::Release);
            return Ok(());
        }
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("harn-keeper".to_owned());
            *thread = Some(builder.spawn(move || shared.run())?);
        }
        self.is_started.store(true, Ordering::Release);
        Ok(())
    }
}

impl Drop for Keeper {
    /// Writes what is left.
    fn drop(&mut self) {
        if self.lender.is_some() {
            return;
        }
        self.shared.queue().is_closed = true;
        self.shared.rung.notify_one();
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            let _a_panic_was_reported_there = thread.join();
        }
    }
}

impl Shared {
    fn log(&self) -> Option<&Arc<AnyEventLog>> {
        self.log.get_or_init(|| (self.open)()).as_ref()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread if there is something for it to do that it does not know of.
    fn ring(&self, queue: MutexGuard<'_, Queue>) {
        let is_needed = queue.needs_thread();
        drop(queue);
        if is_needed {
            self.rung.notify_one();
        }
    }

    /// Sees to it that what somebody waits for is written: here and now if the log can do that.
    /// Where many sessions are at work, they share a sync instead.
    fn serve_here(self: &Arc<Self>) {
        let mut queue = self.queue();
        let is_for_us = queue.can_be_handed_over() && queue.has_few_topics();
        let taken = is_for_us.then(|| queue.take());
        drop(queue);
        if let Some(Err(refused)) = taken.map(|taken| self.write_here(taken)) {
            self.queue().give_back(refused);
        }
        self.serve();
    }

    /// Writes records here and now, and tells those who wait.
    ///
    /// # Errors
    /// The log cannot do that. They come back.
    fn write_here(&self, taken: Taken) -> Result<(), Taken> {
        let batches = journals_first(taken.records);
        match self.log().and_then(|log| log.append_batches_here(&batches)) {
            Some(outcomes) => {
                self.tell(batches, outcomes);
                Ok(())
            }
            None => Err(Taken {
                records: one_by_one(batches),
                ..taken
            }),
        }
    }

    /// Tells those who wait what became of what was written.
    fn tell<T>(&self, batches: Vec<Batch>, outcomes: Vec<Result<T, LogError>>) {
        let outcomes = outcomes.into_iter().map(|outcome| outcome.map(drop));
        let (written, _dropped_when_all_are_told) = self.settle(batches, outcomes);
        self.finish(&written);
    }

    /// Sees to it that what somebody waits for is written: by the log alone, if it can do that,
    /// or else by the thread.
    fn serve(self: &Arc<Self>) {
        let mut queue = self.queue();
        if queue.can_be_handed_over() {
            let taken = queue.take();
            drop(queue);
            let Err(refused) = self.hand_over(taken) else {
                return;
            };
            queue = self.queue();
            queue.give_back(refused);
        }
        self.ring(queue);
    }

    /// Hands records to the log, which tells those who wait.
    ///
    /// # Errors
    /// The log does not take them without somebody who waits. They come back.
    fn hand_over(self: &Arc<Self>, taken: Taken) -> Result<(), Taken> {
        let Some(log) = self.log() else {
            return Err(taken);
        };
        let shared = Arc::clone(self);
        let batches = journals_first(taken.records);
        let handed_over = log.append_batches_then(batches, move |batches, outcomes| {
            shared.tell(batches, outcomes);
            shared.serve();
        });
        handed_over.map_err(|batches| Taken {
            records: one_by_one(batches),
            ..taken
        })
    }

    fn run(&self) {
        loop {
            let mut queue = self.wait_for_work();
            let taken = queue.take();
            let is_closed = queue.is_closed;
            drop(queue);
            let written = self.write(taken);
            self.finish(&written);
            if is_closed && self.queue().is_finished() {
                return;
            }
        }
    }

    /// Notes that nothing is under way any more, and tells those who waited for it.
    fn finish(&self, written: &Written) {
        let mut queue = self.queue();
        queue.is_writing = false;
        let served = std::mem::take(&mut queue.served);
        let ended = queue.take_ended_claims();
        drop(queue);
        drop(ended); // Before who waits goes on: it may be another program with the session.
        for barrier in served {
            let _whoever_waited_has_gone = barrier.send(written.clone());
        }
    }

    /// Waits until there is something to write, and for more of it unless somebody is waiting.
    fn wait_for_work(&self) -> MutexGuard<'_, Queue> {
        let mut queue = self.queue();
        loop {
            queue = match queue.work() {
                Work::Now => return queue,
                Work::Nothing => {
                    queue.thread = Thread::Asleep;
                    let rung = self.rung.wait(queue);
                    rung.unwrap_or_else(PoisonError::into_inner)
                }
                Work::At(time) => {
                    let left = time.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return queue;
                    }
                    queue.thread = Thread::AsleepUntil(time);
                    let rung = self.rung.wait_timeout(queue, left);
                    rung.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            queue.thread = Thread::Awake;
        }
    }

    /// Writes records; those that cannot be written go back to the front of the queue.
    ///
    /// The batches are handed over together, so that a log can commit them together.
    fn write(&self, taken: Taken) -> Written {
        let Some(log) = self.log() else {
            return Ok(()); // Nothing is taken where nothing is open.
        };
        let batches = journals_first(taken.records);
        let appended = block_on(append(log, &batches, taken.is_retry));
        let (written, _batches) = self.settle(batches, appended);
        written?;
        match taken.durably {
            true => block_on(barrier(log)).map_err(Arc::new),
            false => Ok(()),
        }
    }

    /// Puts back what was not written. Gives what came of all of it, and the batches that were
    /// written: to let go of them takes time.
    fn settle(
        &self,
        batches: Vec<Batch>,
        outcomes: impl IntoIterator<Item = Result<(), LogError>>,
    ) -> (Written, Vec<Batch>) {
        let mut written = Vec::with_capacity(batches.len());
        let mut unwritten = Vec::new();
        let mut failure = None;
        for (batch, outcome) in batches.into_iter().zip(outcomes) {
            match outcome {
                Ok(()) => written.push(batch),
                Err(error) => {
                    failure.get_or_insert(error);
                    unwritten.push(batch);
                }
            }
        }
        let outcome = match failure {
            None => {
                self.queue().is_failure_told = false;
                Ok(())
            }
            Some(error) => {
                self.put_back(one_by_one(unwritten), &error);
                Err(Arc::new(error))
            }
        };
        (outcome, written)
    }

    fn put_back(&self, mut unwritten: Vec<Draft>, error: &LogError) {
        let mut queue = self.queue();
        unwritten.append(&mut queue.records);
        queue.records = unwritten;
        queue.is_retry = true;
        queue.is_failing = true;
        if !std::mem::replace(&mut queue.is_failure_told, true) {
            let waiting = queue.records.len();
            tracing::warn!(target: "agent.journal", %error, waiting, "records cannot be written");
        }
    }
}

impl Queue {
    /// Takes everything, for whoever writes it now.
    fn take(&mut self) -> Taken {
        self.since = None;
        self.is_writing = true;
        self.served = std::mem::take(&mut self.barriers);
        let is_barrier_waiting = !self.served.is_empty();
        self.served.append(&mut self.handovers);
        let is_sync_wanted = std::mem::take(&mut self.is_sync_wanted);
        Taken {
            records: std::mem::take(&mut self.records),
            durably: is_sync_wanted || is_barrier_waiting,
            is_retry: std::mem::take(&mut self.is_retry),
        }
    }

    /// Puts back what nobody has tried to write.
    fn give_back(&mut self, mut taken: Taken) {
        taken.records.append(&mut self.records);
        self.records = taken.records;
        self.barriers.append(&mut self.served);
        self.is_retry |= taken.is_retry;
        self.is_writing = false;
    }

    /// Whether somebody waits for what a log may be able to write alone. After a failure it
    /// takes somebody who looks.
    fn can_be_handed_over(&self) -> bool {
        !self.barriers.is_empty() && !self.is_writing && !self.is_retry
    }

    /// Whether the records are those of few topics, as they are where one session after the other
    /// is at work.
    fn has_few_topics(&self) -> bool {
        let mut topics: Vec<&Topic> = Vec::with_capacity(FEW_TOPICS + 1);
        for record in &self.records {
            if !topics.contains(&record.topic()) {
                topics.push(record.topic());
            }
            if topics.len() > FEW_TOPICS {
                return false;
            }
        }
        !topics.is_empty()
    }

    /// Whether there is something to do that the thread does not know of.
    fn needs_thread(&self) -> bool {
        match (self.work(), self.thread) {
            (Work::Nothing, _) | (_, Thread::Awake) => false,
            (Work::At(time), Thread::AsleepUntil(until)) => time < until,
            (Work::Now | Work::At(_), _) => true,
        }
    }

    /// What the thread has to do.
    fn work(&self) -> Work {
        if self.is_writing {
            return Work::Nothing; // Whoever does that sees what there is to do next.
        }
        if !self.barriers.is_empty() || !self.handovers.is_empty() || self.is_closed {
            return Work::Now;
        }
        match self.since {
            _ if self.is_failing => Work::Nothing,
            _ if self.records.is_empty() && !self.is_sync_wanted => Work::Nothing,
            Some(since) if self.records.len() < GATHERED_RECORDS_MAX => {
                Work::At(since + GATHERING_TIME)
            }
            _ => Work::Now,
        }
    }

    /// Whether a topic has records that are not in the log, or may have.
    fn has_unwritten(&self, topic: &str) -> bool {
        let mut topics = self.records.iter().map(|record| record.topic().as_str());
        self.is_writing || topics.any(|waiting| waiting == topic)
    }

    /// Whether nothing more can be done for what is left.
    fn is_finished(&self) -> bool {
        self.records.is_empty() || self.is_failing
    }
}

/// When there is something to write.
enum Work {
    Now,
    At(Instant),
    Nothing,
}

/// Syncs, and once more after an earlier failure: nobody may append again for a long time.
async fn barrier(log: &AnyEventLog) -> Result<(), LogError> {
    match log.barrier().await {
        Err(error) if error.is_poisoned() => {}
        other => return other,
    }
    log.recover().await?;
    log.barrier().await
}

/// Appends the records of each topic. After a failure, somebody has to look first.
async fn append(
    log: &Arc<AnyEventLog>,
    batches: &[Batch],
    is_retry: bool,
) -> Vec<Result<(), LogError>> {
    let again = |batch| Box::pin(append_again(log, batch)) as Joined<'_, _>;
    if is_retry {
        return join(batches.iter().map(again).collect()).await;
    }
    let appended = log.append_batches(batches).await;
    let outcomes = appended.into_iter().zip(batches).map(|(outcome, batch)| {
        Box::pin(async move {
            match outcome {
                Err(error) if error.is_poisoned() => again(batch).await,
                outcome => outcome.map(drop),
            }
        }) as Joined<'_, _>
    });
    join(outcomes.collect()).await
}

/// Appends what may have been appended: the disk may have room again, and it may have taken
/// what it seemed to refuse.
async fn append_again(log: &Arc<AnyEventLog>, batch: &Batch) -> Result<(), LogError> {
    log.recover().await?;
    let events = unstored(log, batch).await?;
    if events.is_empty() {
        return Ok(());
    }
    log.append_batch(batch.topic(), events).await.map(drop)
}

/// Those of the records that the log does not have, by the indexes of their sessions.
async fn unstored(log: &Arc<AnyEventLog>, batch: &Batch) -> Result<Vec<LogEvent>, LogError> {
    let stored = LoggedSessions::new(Arc::clone(log));
    let mut newest: BTreeMap<String, Option<u64>> = BTreeMap::new();
    let mut unstored = Vec::new();
    for event in batch.drafts().iter().map(Draft::event) {
        let session_id = event.headers.get(SESSION_HEADER);
        let index = event.payload["index"].as_u64();
        if let (Some(session_id), Some(index)) = (session_id, index) {
            if !newest.contains_key(session_id) {
                let found = stored.newest_of(batch.topic(), session_id).await?;
                let found = found.and_then(|record| record.payload["index"].as_u64());
                newest.insert(session_id.clone(), found);
            }
            if newest[session_id].is_some_and(|newest| index <= newest) {
                continue;
            }
        }
        unstored.push(event);
    }
    Ok(unstored)
}

/// A batch per topic, those of journals before those of events. A process may die between two
/// topics: then readers of events lack what the journal has, and never the other way round, for
/// events of a run that no journal knows would belong to nothing.
fn journals_first(records: Vec<Draft>) -> Vec<Batch> {
    let mut batches = Batch::by_topic(records);
    batches.sort_by_key(|batch| !batch.topic().as_str().starts_with(JOURNAL_TOPIC_PREFIX));
    batches
}

/// The records of batches one by one again.
fn one_by_one(batches: Vec<Batch>) -> Vec<Draft> {
    batches.into_iter().flat_map(Batch::into_drafts).collect()
}

impl Keeper {
    /// The newest record of a session in a topic, also if it still waits to be written.
    ///
    /// # Errors
    /// The log cannot be read or written.
    pub(crate) fn latest_of(
        &self,
        topic: &str,
        session_id: &str,
    ) -> Result<Option<harn_events::LogEvent>, LogFailure> {
        let is_behind = self.shared.queue().has_unwritten(topic);
        if is_behind {
            block_on(self.sync())?;
        }
        let log = self.log().ok_or(Closed)?;
        LoggedSessions::new(Arc::clone(log)).latest_of(topic, session_id)
    }

    /// Everything taken so far becomes durable with what is being gathered: nobody waits.
    pub(crate) fn sync_soon(&self) {
        if self.log().is_none() || self.start().is_err() {
            return;
        }
        let mut queue = self.shared.queue();
        queue.is_sync_wanted = true;
        queue.since.get_or_insert_with(Instant::now);
        self.shared.ring(queue);
    }
}

#[cfg(test)]
mod tests;
