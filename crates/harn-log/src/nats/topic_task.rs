//! Who does the work on a topic.
//!
//! There is one task per topic that is being changed. Whoever wants to change the
//! topic puts a request into its queue, so our own requests never get in each other's
//! way. Appends follow each other without waiting; everything else is done when
//! nothing is on its way. A task that has had nothing to do for a while goes away,
//! and with it everything it has remembered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::connection::Connection;
use super::error::{NatsError, Result};
use super::key_index::KeyIndex;
use super::keyed::{self, HeadPolicy, Key};
use super::pipeline::{Pipeline, Reply};
use super::topic_stream::TopicStream;
use super::upkeep::{self, Move};
use crate::event::LogEvent;
use crate::log::{AppendOutcome, CompactForce, CompactReport};
use crate::name::{ConsumerId, EventId, Topic};
use crate::record::{Draft, Record};

/// How many requests wait for a topic. Whoever comes later waits until there is room.
const QUEUE_REQUESTS_MAX: usize = 1_024;
/// After how long without a request a task goes away.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// What can be asked of a topic.
pub(super) enum Request {
    Append {
        drafts: Vec<Draft>,
        reply: Reply,
    },
    AppendOnce {
        key: Key,
        policy: HeadPolicy,
        event: LogEvent,
        reply: oneshot::Sender<Result<AppendOutcome>>,
    },
    Find {
        key: Key,
        reply: oneshot::Sender<Result<Option<Record>>>,
    },
    MoveCursor {
        consumer: ConsumerId,
        to: EventId,
        way: Move,
        reply: oneshot::Sender<Result<()>>,
    },
    Compact {
        before: EventId,
        force: CompactForce,
        reply: oneshot::Sender<Result<CompactReport>>,
    },
    /// Answered when everything before it is done.
    Flush {
        reply: oneshot::Sender<Result<()>>,
    },
}

/// A request, and when it has to be done.
struct Timed {
    request: Request,
    deadline: Instant,
}

type Senders = Arc<Mutex<HashMap<Topic, mpsc::Sender<Timed>>>>;

/// The tasks of all topics that have one.
pub(super) struct TopicTasks {
    connection: Connection,
    runtime: Handle,
    senders: Senders,
}

impl TopicTasks {
    pub(super) fn new(connection: Connection, runtime: Handle) -> Self {
        Self {
            connection,
            runtime,
            senders: Senders::default(),
        }
    }

    /// Asks a topic for something and waits for the answer.
    ///
    /// # Cancel safety
    /// Dropping the future only stops waiting once the request is in the queue.
    pub(super) async fn ask<T>(
        &self,
        topic: &Topic,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let request = Timed {
            request: request(reply),
            deadline: self.connection.deadline(),
        };
        let sender = self.sender(topic);
        let sent = sender.send(request).await;
        drop(sender);
        if sent.is_err() {
            return Err(NatsError::Closed.into());
        }
        answer.await.unwrap_or(Err(NatsError::Closed.into()))
    }

    /// Waits for everything that is on its way in any topic.
    pub(super) async fn flush(&self) -> Result<()> {
        let topics: Vec<_> = recover(&self.senders).keys().cloned().collect();
        for topic in topics {
            self.ask(&topic, |reply| Request::Flush { reply }).await?;
        }
        Ok(())
    }

    /// The queue of a topic. Its task is started if there is none.
    fn sender(&self, topic: &Topic) -> mpsc::Sender<Timed> {
        let mut senders = recover(&self.senders);
        if let Some(sender) = senders.get(topic).filter(|sender| !sender.is_closed()) {
            return sender.clone();
        }
        let (sender, queue) = mpsc::channel(QUEUE_REQUESTS_MAX);
        senders.insert(topic.clone(), sender.clone());
        let stream = TopicStream::new(&self.connection, topic);
        let senders = Arc::clone(&self.senders);
        self.runtime.spawn(run(stream, queue, senders));
        sender
    }
}

/// The task of a topic.
struct TopicTask {
    queue: mpsc::Receiver<Timed>,
    senders: Senders,
    pipeline: Pipeline,
    index: KeyIndex,
    /// A request that waits until nothing is on its way.
    held: Option<Timed>,
}

/// If there is no connection to be had, the requests are dropped with the queue,
/// which tells whoever waits.
async fn run(stream: TopicStream, queue: mpsc::Receiver<Timed>, senders: Senders) {
    if let Ok(pipeline) = Pipeline::open(stream).await {
        let task = TopicTask {
            queue,
            senders,
            pipeline,
            index: KeyIndex::default(),
            held: None,
        };
        task.run().await;
    }
}

impl TopicTask {
    async fn run(mut self) {
        loop {
            let is_quiet = self.pipeline.is_empty();
            if is_quiet && let Some(held) = self.held.take() {
                self.perform(held).await;
                continue;
            }
            let has_room = self.held.is_none() && self.pipeline.has_room();
            tokio::select! {
                biased;
                noticed = self.pipeline.notice(), if !is_quiet => {
                    self.pipeline.handle(noticed, &mut self.index).await;
                }
                request = self.queue.recv(), if has_room => match request {
                    Some(request) => self.accept(request).await,
                    None if is_quiet => return,
                    None => {}
                },
                () = sleep(IDLE_MAX), if is_quiet => if self.leave() {
                    return;
                },
            }
        }
    }

    /// Takes a request and those that have come with it.
    async fn accept(&mut self, first: Timed) {
        let mut next = Some(first);
        while let Some(Timed { request, deadline }) = next {
            match request {
                Request::Append { drafts, reply } => {
                    self.pipeline.push(drafts, reply, deadline).await;
                }
                request => {
                    self.held = Some(Timed { request, deadline });
                    return;
                }
            }
            if !self.pipeline.has_room() {
                return;
            }
            next = self.queue.try_recv().ok();
        }
    }

    /// Does something that is not a plain append, while nothing is on its way.
    async fn perform(&mut self, Timed { request, deadline }: Timed) {
        let (pipeline, index) = (&mut self.pipeline, &mut self.index);
        match request {
            Request::Append { drafts, reply } => pipeline.push(drafts, reply, deadline).await,
            Request::AppendOnce {
                key,
                policy,
                event,
                reply,
            } => {
                let outcome = keyed::append(pipeline, index, &key, &policy, event, deadline).await;
                answer(reply, outcome);
            }
            Request::Find { key, reply } => {
                answer(reply, keyed::find(pipeline, index, &key, deadline).await);
            }
            Request::MoveCursor {
                consumer,
                to,
                way,
                reply,
            } => {
                let stream = &pipeline.stream;
                let moved = upkeep::move_cursor(stream, &consumer, to, way, deadline).await;
                answer(reply, moved);
            }
            Request::Compact {
                before,
                force,
                reply,
            } => {
                let report = upkeep::compact(&pipeline.stream, before, force, deadline).await;
                if report.is_ok() {
                    index.forget(before);
                }
                answer(reply, report);
            }
            Request::Flush { reply } => answer(reply, Ok(())),
        }
    }

    /// Goes away unless somebody is about to ask for something. Queues are handed out
    /// under the lock only, so one that nobody else has stays that way.
    fn leave(&mut self) -> bool {
        let mut senders = recover(&self.senders);
        let topic = &self.pipeline.stream.topic;
        let is_unused = self.queue.is_empty() && self.queue.sender_strong_count() <= 1;
        if is_unused {
            senders.remove(topic);
        }
        is_unused
    }
}

/// Whoever asked may have stopped waiting, which changes nothing.
fn answer<T>(reply: oneshot::Sender<T>, outcome: T) {
    let _unheard = reply.send(outcome);
}

/// No foreign code runs under the lock, so what it guards is whole even after a panic.
fn recover<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
