//! Reading along.
//!
//! ```text
//! server ── consumer ──► task on our thread ── queue of `queue_depth` ──► reader
//! ```
//!
//! The task asks for as many records as the queue holds and for more when they have
//! been taken, so a slow reader costs nothing but time. Where there are none, the
//! question stays with the server until there are. After a change of the connection,
//! or when the server has forgotten the consumer, a new one goes on after the last
//! record that came.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::NatsEventLog;
use super::connection::{next, unreachable};
use super::error::{NatsError, Result};
use super::puller::{Pulled, Puller};
use super::topic_stream::TopicStream;
use crate::name::EventId;
use crate::record::Record;

const DOING: &str = "follow a topic";
/// How long a question stays with the server.
const WAIT: Duration = Duration::from_secs(30);
/// How much later than that an answer may come.
const GRACE: Duration = Duration::from_secs(5);
/// How long after a message was heard it should be stored. It may also be refused.
const STORED_WITHIN: Duration = Duration::from_secs(1);

/// The reader's side.
pub(super) struct Subscription {
    log: Arc<NatsEventLog>,
    stream: TopicStream,
    from: EventId,
    /// Started when somebody first wants a record. Until then a subscription is a
    /// position and costs nothing.
    following: Option<Following>,
}

struct Following {
    records: mpsc::Receiver<Result<Record>>,
    task: JoinHandle<()>,
}

impl Subscription {
    pub(super) fn new(log: Arc<NatsEventLog>, stream: TopicStream, from: EventId) -> Self {
        Self {
            log,
            stream,
            from,
            following: None,
        }
    }

    fn start(&self) -> Following {
        let (out, records) = mpsc::channel(self.log.queue_depth);
        let follower = Follower {
            stream: self.stream.clone(),
            position: self.from,
            queue_depth: self.log.queue_depth as u64,
            out,
        };
        let task = self.log.runtime.handle().spawn(follower.run());
        Following { records, task }
    }
}

impl Stream for Subscription {
    type Item = Result<Record>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.following.is_none() {
            self.following = Some(self.start());
        }
        let following = self.following.as_mut().expect("it was just started");
        following.records.poll_recv(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(following) = &mut self.following {
            // The queue forgets the last waker only for another one, and would wake it
            // when the task lets go of its end.
            let mut nobody = Context::from_waker(Waker::noop());
            let _unread = following.records.poll_recv(&mut nobody);
            following.task.abort();
        }
    }
}

/// The server's side.
struct Follower {
    stream: TopicStream,
    /// The last record that came.
    position: EventId,
    queue_depth: u64,
    out: mpsc::Sender<Result<Record>>,
}

impl Follower {
    /// Runs until it is aborted, or until nobody reads.
    async fn run(mut self) {
        while !self.out.is_closed() {
            let Err(error) = self.follow().await else {
                return;
            };
            if error.is_transient() {
                self.stream.connection.pause().await;
            } else if self.out.send(Err(error.into())).await.is_err() {
                return;
            }
        }
    }

    /// Waits until the topic has had a record. Reading along does not make a topic, so
    /// there may be no stream. But records are messages, and whoever listens to their
    /// subject hears the first one, perhaps a moment before it is stored.
    async fn wait_for_the_first(&self) -> Result<(), NatsError> {
        let connection = &self.stream.connection;
        if self.had_a_record().await? {
            return Ok(());
        }
        let mut link = connection.link();
        let subscribed = connection.client().subscribe(self.stream.subject.clone());
        let mut messages = subscribed.await.map_err(|why| unreachable(DOING, why))?;
        let mut heard_at = None;
        // What came before we listened, the first look finds.
        while !self.had_a_record().await? {
            let is_expected = heard_at.is_some_and(|at: Instant| at.elapsed() < STORED_WITHIN);
            if is_expected {
                connection.pause().await;
                continue;
            }
            tokio::select! {
                message = next(&mut messages) => match message {
                    Some(_) => heard_at = Some(Instant::now()),
                    None => return Err(NatsError::Closed),
                },
                _ = link.changed() => return Err(again("the connection has changed")),
                // In a cluster it may take a moment until all servers know that we listen.
                () = sleep(WAIT) => {}
            }
        }
        Ok(())
    }

    async fn had_a_record(&self) -> Result<bool, NatsError> {
        let state = self.stream.state(self.stream.connection.deadline()).await?;
        Ok(state.is_some_and(|state| state.last > 0))
    }

    /// Follows the topic with one consumer. Comes back when nobody reads any more, or
    /// with the reason why another consumer is needed.
    async fn follow(&mut self) -> Result<(), NatsError> {
        let mut link = self.stream.connection.link();
        self.wait_for_the_first().await?;
        let deadline = self.stream.connection.deadline();
        let puller = Puller::open(&self.stream, self.position, deadline).await?;
        let mut puller = puller.ok_or_else(|| super::head::gone(&self.stream))?;
        loop {
            puller.ask_waiting(self.queue_depth, WAIT).await?;
            for _ in 0..self.queue_depth {
                let pulled = tokio::select! {
                    pulled = timeout(WAIT + GRACE, puller.next()) => pulled,
                    _ = link.changed() => return Err(again("the connection has changed")),
                };
                let Ok(pulled) = pulled else {
                    return Err(again("the server has forgotten what it was asked"));
                };
                match pulled? {
                    Pulled::Record { id, event, .. } if id > self.position => {
                        if self.out.send(Ok((id, event))).await.is_err() {
                            return Ok(());
                        }
                        self.position = id;
                    }
                    // The server begins at the end if it is asked to begin later.
                    Pulled::Record { .. } => {}
                    Pulled::Done => break,
                    Pulled::Broken(error) => return Err(error),
                }
            }
        }
    }
}

fn again(why: &'static str) -> NatsError {
    unreachable(DOING, why)
}
