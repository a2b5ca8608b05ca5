//! A log on NATS JetStream, for more than one machine.
//!
//! ```text
//!  append ──► topic task ──► stream of the topic ──► consumers ──► read, subscribe
//!  ack, compact ──┘   └────► bucket: cursors and anchors
//!  lease ──────────────────► bucket: entries with a time to live
//! ```
//!
//! Each topic has a stream of its own, and the sequence of a message is the id of its
//! record. Several processes may append to one topic: each record says which one it
//! follows, and the stream takes it there or not at all. Whoever was slower reads the
//! end of the topic and tries again. The parts, in reading order:
//!
//! | file              | idea                                                     |
//! |-------------------|----------------------------------------------------------|
//! | `config`          | where the server is and what we expect of it              |
//! | `manifest`        | where people write that                                   |
//! | `durability`      | what an acknowledgement means                             |
//! | `runtime`         | the thread on which everything happens                    |
//! | `connection`      | asking the server, again if need be                       |
//! | `name`, `message`, `topic_stream` | how topics and records are kept           |
//! | `head`            | the end of a topic; unfinished batches                    |
//! | `pipeline`        | records on their way                                      |
//! | `keyed`, `key_index` | records with a key                                     |
//! | `topic_state`, `upkeep` | cursors and compaction                              |
//! | `topic_task`      | one task per topic that does all of the above             |
//! | `puller`, `reader`, `subscription`, `topics` | reading                        |
//! | `bucket`, `lease` | small values, and who may do something until when         |
//!
//! A record that was appended is on the server and survives us. Whether it survives a
//! power cut there is up to the server's settings: see [`AcknowledgementPolicy`].
//! While the server is away, everything waits for it up to `request_timeout`.
//!
//! A batch is stored one record at a time, so a reader may see its beginning before
//! its end. It is never left like that: see `head`.

mod bucket;
mod config;
mod connection;
mod durability;
mod error;
mod head;
mod key_index;
mod keyed;
mod lease;
mod manifest;
mod message;
mod name;
mod pipeline;
mod puller;
mod reader;
mod runtime;
mod subscription;
mod topic_state;
mod topic_stream;
mod topic_task;
mod topics;
mod upkeep;

use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::time::Instant;

pub use config::{AcknowledgementPolicy, NatsConfig, NatsCredentials, NatsDurability};
pub use error::NatsError;
pub use lease::NatsLease;
pub(crate) use manifest::{NatsTable, URL_DEFAULT};

use crate::event::LogEvent;
use crate::join::{Joined, join};
use crate::log::{
    AppendOutcome, Batch, CompactForce, CompactReport, EventLog, EventLogDescription, LogHealth,
    Result, check_key,
};
use crate::name::{ConsumerId, EventId, Topic};
use crate::owner::Owners;
use crate::provenance::EventLogVerificationReport;
use crate::record::{Draft, Record};
use crate::stream::EventStream;
use connection::Connection;
use keyed::{HeadPolicy, Key};
use lease::Leases;
use name::Names;
use runtime::Runtime;
use subscription::Subscription;
use topic_stream::TopicStream;
use topic_task::{Request, TopicTasks};
use upkeep::Move;

/// A log on NATS JetStream.
pub struct NatsEventLog {
    connection: Connection,
    tasks: TopicTasks,
    leases: Arc<Leases>,
    durability: NatsDurability,
    location: String,
    queue_depth: usize,
    owners: Arc<Owners>,
    /// Last, so that it ends when nobody needs it.
    runtime: Runtime,
}

impl NatsEventLog {
    /// Opens the log. This waits for the server, so a task should not do it itself.
    ///
    /// # Errors
    /// No server answers in time, it refuses us, or its acknowledgements are not what
    /// the configuration asks for.
    pub fn open(config: NatsConfig) -> Result<Arc<Self>> {
        let names = Names::new(&config.prefix)?;
        let runtime = Runtime::start()?;
        let (say, hear) = mpsc::channel();
        let (location, lease_ttl) = (config.location(), config.lease_ttl);
        let queue_depth = config.queue_depth.max(1);
        runtime.handle().spawn(async move {
            // Whoever opens the log waits for this.
            let _heard = say.send(connect(config, names).await);
        });
        let opened = hear.recv().unwrap_or(Err(NatsError::Closed.into()));
        let (connection, durability) = opened?;
        Ok(Arc::new(Self {
            tasks: TopicTasks::new(connection.clone(), runtime.handle().clone()),
            leases: Arc::new(Leases::new(connection.clone(), lease_ttl)),
            connection,
            durability,
            location,
            queue_depth,
            owners: Owners::here(),
            runtime,
        }))
    }

    /// Who writes what, among the users of this log.
    pub(crate) fn owners(&self) -> &Arc<Owners> {
        &self.owners
    }

    /// What the server's acknowledgements mean.
    pub fn durability(&self) -> NatsDurability {
        self.durability
    }

    /// Takes a lease if it is free. It lasts for `lease_ttl` of the configuration.
    pub async fn try_lease(&self, name: &str, owner: &str) -> Result<Option<NatsLease>> {
        let (leases, name, owner) = self.lease_request(name, owner);
        self.run(async move { leases.try_take(&name, &owner).await })
            .await
    }

    /// Takes a lease as soon as it is free, if that is within `patience`.
    pub async fn lease(
        &self,
        name: &str,
        owner: &str,
        patience: Duration,
    ) -> Result<Option<NatsLease>> {
        let (leases, name, owner) = self.lease_request(name, owner);
        let until = Instant::now() + patience;
        self.run(async move { leases.take(&name, &owner, until).await })
            .await
    }

    /// Makes a lease last from now on; `None` if it is lost.
    pub async fn renew_lease(&self, lease: NatsLease) -> Result<Option<NatsLease>> {
        let leases = Arc::clone(&self.leases);
        self.run(async move { leases.renew(lease).await }).await
    }

    /// Gives a lease back, and says whether it was still held.
    pub async fn release_lease(&self, lease: NatsLease) -> Result<bool> {
        let leases = Arc::clone(&self.leases);
        self.run(async move { leases.release(&lease).await }).await
    }

    /// Who has a lease.
    pub async fn lease_holder(&self, name: &str) -> Result<Option<NatsLease>> {
        let (leases, name) = (Arc::clone(&self.leases), name.to_owned());
        self.run(async move { leases.holder(&name).await }).await
    }

    fn lease_request(&self, name: &str, owner: &str) -> (Arc<Leases>, String, String) {
        (Arc::clone(&self.leases), name.to_owned(), owner.to_owned())
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.runtime.run(work)
    }

    fn stream(&self, topic: &Topic) -> TopicStream {
        TopicStream::new(&self.connection, topic)
    }

    async fn append_once(
        &self,
        topic: &Topic,
        (header, value): (&str, &str),
        policy: HeadPolicy,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        check_key(header)?;
        let key = key(header, value);
        let request = |reply| Request::AppendOnce {
            key,
            policy,
            event,
            reply,
        };
        self.tasks.ask(topic, request).await
    }

    /// Counts a change, and remembers the first one that failed.
    fn noting<T>(&self, outcome: Result<T>) -> Result<T> {
        let counters = self.connection.counters();
        counters.note_group(1);
        outcome.inspect_err(|error| counters.note_failure(error))
    }

    async fn move_cursor(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
        to: EventId,
        way: Move,
    ) -> Result<()> {
        let consumer = consumer.clone();
        let request = |reply| Request::MoveCursor {
            consumer,
            to,
            way,
            reply,
        };
        self.tasks.ask(topic, request).await
    }
}

impl NatsEventLog {
    async fn append_drafts(&self, topic: &Topic, drafts: Vec<Draft>) -> Result<Vec<EventId>> {
        let request = |reply| Request::Append { drafts, reply };
        self.noting(self.tasks.ask(topic, request).await)
    }
}

impl EventLog for NatsEventLog {
    async fn append(&self, topic: &Topic, event: LogEvent) -> Result<EventId> {
        let drafts = vec![Draft::new(topic, event)?];
        let ids = self.append_drafts(topic, drafts).await?;
        Ok(ids[0])
    }

    async fn append_batch(&self, topic: &Topic, events: Vec<LogEvent>) -> Result<Vec<EventId>> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let drafts = events.into_iter().map(|event| Draft::new(topic, event));
        self.append_drafts(topic, drafts.collect::<Result<_>>()?)
            .await
    }

    async fn append_batches(&self, batches: &[Batch]) -> Vec<Result<Vec<EventId>>> {
        let appending = batches.iter().map(|batch| {
            let drafts = batch.drafts().to_vec();
            Box::pin(self.append_drafts(batch.topic(), drafts)) as Joined<'_, _>
        });
        join(appending.collect()).await
    }

    async fn append_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        self.append_once(topic, (header, value), HeadPolicy::Any, event)
            .await
    }

    async fn append_idempotent_chained_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
        expected_head: Option<&str>,
        event: LogEvent,
    ) -> Result<AppendOutcome> {
        let policy = HeadPolicy::Exactly(expected_head.map(str::to_owned));
        self.append_once(topic, (header, value), policy, event)
            .await
    }

    async fn read_idempotent_by_header(
        &self,
        topic: &Topic,
        header: &str,
        value: &str,
    ) -> Result<Option<Record>> {
        check_key(header)?;
        let key = key(header, value);
        let request = |reply| Request::Find { key, reply };
        self.tasks.ask(topic, request).await
    }

    async fn read_range(
        &self,
        topic: &Topic,
        from: Option<EventId>,
        limit: usize,
    ) -> Result<Vec<Record>> {
        let stream = self.stream(topic);
        let work = async move {
            let deadline = stream.connection.deadline();
            Ok(reader::read(&stream, from.unwrap_or(0), limit, deadline).await?)
        };
        self.run(work).await
    }

    async fn latest(&self, topic: &Topic) -> Result<Option<EventId>> {
        let stream = self.stream(topic);
        let work = async move {
            let state = stream.state(stream.connection.deadline()).await?;
            Ok(state.map(|state| state.last).filter(|last| *last > 0))
        };
        self.run(work).await
    }

    async fn subscribe(
        self: Arc<Self>,
        topic: &Topic,
        from: Option<EventId>,
    ) -> Result<EventStream> {
        let stream = self.stream(topic);
        let subscription = Subscription::new(self, stream, from.unwrap_or(0));
        Ok(EventStream::new(from, subscription))
    }

    async fn ack(&self, topic: &Topic, consumer: &ConsumerId, up_to: EventId) -> Result<()> {
        self.move_cursor(topic, consumer, up_to, Move::Forward)
            .await
    }

    async fn rewind(&self, topic: &Topic, consumer: &ConsumerId, to: EventId) -> Result<()> {
        self.move_cursor(topic, consumer, to, Move::Anywhere).await
    }

    async fn consumer_cursor(
        &self,
        topic: &Topic,
        consumer: &ConsumerId,
    ) -> Result<Option<EventId>> {
        let (stream, consumer) = (self.stream(topic), consumer.clone());
        let work = async move { topics::cursor(&stream, &consumer).await };
        self.run(work).await
    }

    async fn compact(
        &self,
        topic: &Topic,
        before: EventId,
        force: CompactForce,
    ) -> Result<CompactReport> {
        let request = |reply| Request::Compact {
            before,
            force,
            reply,
        };
        self.tasks.ask(topic, request).await
    }

    async fn verify_topic(&self, topic: &Topic) -> Result<EventLogVerificationReport> {
        let stream = self.stream(topic);
        self.run(async move { topics::verify(&stream).await }).await
    }

    async fn topics(&self) -> Result<Vec<Topic>> {
        let connection = self.connection.clone();
        self.run(async move { topics::list(&connection).await })
            .await
    }

    /// An append resolves when the server has acknowledged it, so there is nothing to
    /// wait for but what is still on its way. What that means for a power cut is what
    /// [`durability`](NatsEventLog::durability) says.
    async fn flush(&self) -> Result<()> {
        self.tasks.flush().await
    }

    fn describe(&self) -> EventLogDescription {
        EventLogDescription {
            backend: "nats",
            location: Some(self.location.clone()),
            size_bytes: None,
            queue_depth: self.queue_depth,
        }
    }

    fn health(&self) -> LogHealth {
        self.connection.counters().health()
    }
}

async fn connect(config: NatsConfig, names: Names) -> Result<(Connection, NatsDurability)> {
    let connection = Connection::open(&config, names).await?;
    let version = connection.client().server_info().version;
    let durability = durability::check(&version, &config).await?;
    Ok((connection, durability))
}

fn key(header: &str, value: &str) -> Key {
    Key {
        header: header.to_owned(),
        value: value.to_owned(),
    }
}

impl std::fmt::Debug for NatsEventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsEventLog")
            .field("location", &self.location)
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}
