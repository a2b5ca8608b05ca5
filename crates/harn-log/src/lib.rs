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
//! | backend | for |
//! |---|---|
//! | [`MemoryEventLog`] | tests and throw-away runs |
//! | [`SqliteEventLog`] | everything else; the default |
//! | [`FileEventLog`] | logs a person reads with `jq` |
//! | [`NatsEventLog`] | more than one machine |
//!
//! The features `sqlite` and `nats` are on by default. Without them their backends can
//! still be named in a configuration, but not be opened, and neither SQLite nor the NATS
//! client is built.
//!
//! `append` returns when the record has its id, is visible and survives the process;
//! `barrier` when it would survive a power cut. Both share their work with whoever
//! else is waiting.
//!
//! ```
//! # use harn_log::block_on;
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
//! Futures of this crate can be polled by any executor, and by [`block_on`] where there
//! is none. Dropping the last handle of a log waits for its threads to finish what
//! they have.
//!
//! What this crate leaves to others: what records mean. It knows nothing of agents.

mod active;
mod any;
mod block;
#[cfg(doctest)]
mod book;
mod canonical;
mod clock;
mod config;
mod delegate;
mod error;
mod event;
mod file;
mod join;
mod local;
mod log;
mod memory;
mod name;
#[cfg(feature = "nats")]
mod nats;
mod owner;
mod private;
mod provenance;
mod record;
mod retention;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stream;

pub use active::{
    ActiveEventLogs, WithEventLog, active_event_log, describe_for_base_dir,
    install_active_event_log, install_default_at_state_root, install_default_for_base_dir,
    install_lazy_default_for_base_dir, install_memory_for_current_thread, reset_active_event_log,
    with_active_event_log,
};
pub use any::{AnyEventLog, AppendSurvives};
pub use block::block_on;
pub use config::{
    DEFAULT_QUEUE_DEPTH, Environment, EventLogBackend, EventLogConfig, open_event_log, state_root,
};
pub use error::{Damage, LogError};
pub use event::LogEvent;
#[cfg(feature = "sabotage")]
pub use file::Sabotage;
pub use file::{Disk, DiskFile, FileEventLog, FileOptions, OnDamage, OpenFile, RealDisk};
pub use join::{Joined, join};
pub use log::{
    AppendOutcome, Batch, CompactForce, CompactReport, EventLog, EventLogDescription,
    LogEventBytes, LogHealth, Repair, Result,
};
pub use memory::MemoryEventLog;
pub use name::{ConsumerId, EventId, Topic, sanitize_topic_component};
#[cfg(feature = "nats")]
pub use nats::{
    AcknowledgementPolicy, NatsConfig, NatsCredentials, NatsDurability, NatsError, NatsEventLog,
    NatsLease,
};
pub use owner::{Claim, ClaimError, ClaimScope, Owner, Owners};
pub use private::{create_private_folder, narrow_private_folder, private_options};
pub use provenance::{
    EventLogVerificationReport, PREV_HASH_HEADER, RECORD_HASH_HEADER, SCHEMA, SCHEMA_HEADER,
};
pub use record::{Draft, Headers};
pub use retention::{Retention, enforce_all};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteEventLog;
pub use stream::EventStream;
