//! Where events are kept: an append-only log of named topics.
//!
//! ```text
//! append ──► topic: 1, 2, 3, …  ──► read_range, subscribe
//!               │                        ▲
//!               └── hash chain           └── cursors: how far each consumer has read
//! ```
//!
//! A topic is a gap-free sequence of records. Ids never restart, readers never lose
//! their place, and whoever tampers with a record is found out. The trait says what
//! every backend promises; one suite of tests holds all of them to it.
//!
//! Only the volatile backend exists so far; files, SQLite and NATS JetStream come
//! next and change nothing above.
//!
//! ```
//! # fn block_on<T>(future: impl Future<Output = T>) -> T {
//! #     let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
//! #     match std::pin::pin!(future).poll(&mut cx) {
//! #         std::task::Poll::Ready(output) => output,
//! #         std::task::Poll::Pending => panic!("a log in memory has nothing to wait for"),
//! #     }
//! # }
//! # block_on(async {
//! use harn_log::{EventLog, LogEvent, MemoryEventLog, Topic};
//! use serde_json::json;
//!
//! let log = MemoryEventLog::new(128);
//! let topic = Topic::new("orders")?;
//! log.append(&topic, LogEvent::new("placed", json!({"id": 7}))).await?;
//! log.append(&topic, LogEvent::new("shipped", json!({"id": 7}))).await?;
//!
//! let after_the_first = log.read_range(&topic, Some(1), 10).await?;
//! assert_eq!(after_the_first[0].0, 2);
//! assert_eq!(after_the_first[0].1.kind, "shipped");
//! assert!(log.verify_topic(&topic).await?.verified);
//! # Ok::<(), harn_log::LogError>(())
//! # }).unwrap();
//! ```
//!
//! What this crate leaves to others: what records mean. It knows nothing of agents.

mod active;
mod any;
mod block;
mod clock;
mod config;
mod delegate;
mod error;
mod event;
mod file;
mod local;
mod log;
mod memory;
mod name;
mod provenance;
mod record;
mod retention;
mod sqlite;
mod stream;

pub use active::{
    ActiveEventLogs, WithEventLog, active_event_log, describe_for_base_dir,
    install_active_event_log, install_default_at_state_root, install_default_for_base_dir,
    install_lazy_default_for_base_dir, install_memory_for_current_thread, reset_active_event_log,
    with_active_event_log,
};
pub use any::AnyEventLog;
pub use block::block_on;
pub use config::{
    DEFAULT_QUEUE_DEPTH, Environment, EventLogBackend, EventLogConfig, open_event_log,
};
pub use error::{Damage, LogError};
pub use event::LogEvent;
pub use file::{Disk, DiskFile, FileEventLog, FileOptions, OnDamage, OpenFile, RealDisk};
pub use log::{
    AppendOutcome, CompactForce, CompactReport, EventLog, EventLogDescription, LogEventBytes,
    LogHealth, Repair, Result,
};
pub use memory::MemoryEventLog;
pub use name::{ConsumerId, EventId, Topic, sanitize_topic_component};
pub use provenance::{
    EventLogVerificationReport, PREV_HASH_HEADER, RECORD_HASH_HEADER, SCHEMA, SCHEMA_HEADER,
};
pub use retention::{Retention, enforce_all};
pub use sqlite::SqliteEventLog;
pub use stream::EventStream;
