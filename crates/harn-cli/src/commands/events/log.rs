//! Which event log is meant, and how it is opened.
//!
//! Reading commands open a log so that nothing in it can change: SQLite is told to
//! read only, and the file backend gets a disk that refuses to write.

mod place;
mod read_only_disk;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use harn_log::{
    AcknowledgementPolicy, AnyEventLog, DEFAULT_QUEUE_DEPTH, EventLog, FileEventLog, FileOptions,
    LogError, NatsConfig, NatsEventLog, OnDamage, SqliteEventLog, Topic, block_on,
};

use super::failure::Failure;
use place::Place;
use read_only_disk::ReadOnlyDisk;

/// Which log is meant.
#[derive(Debug, Args)]
pub(in crate::commands) struct LogArguments {
    /// The log itself: a SQLite file, or a folder of the file backend
    #[arg(long, value_name = "PATH", conflicts_with = "base")]
    log: Option<PathBuf>,

    /// Use the log that is configured for this folder instead of that of the project here
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
}

/// A log that is open.
#[derive(Clone)]
pub(in crate::commands) struct OpenLog {
    pub(in crate::commands) log: Arc<AnyEventLog>,
}

impl LogArguments {
    /// Opens the log; nothing in it can change.
    pub(in crate::commands) fn open_to_read(
        &self,
        on_damage: OnDamage,
    ) -> Result<OpenLog, Failure> {
        let place = self.place()?;
        let log = match &place {
            Place::Sqlite(path) => {
                AnyEventLog::Sqlite(SqliteEventLog::open_read_only(path, DEFAULT_QUEUE_DEPTH)?)
            }
            Place::Files(root) => {
                let options = FileOptions {
                    on_damage,
                    ..FileOptions::default()
                };
                let disk = Arc::new(ReadOnlyDisk);
                AnyEventLog::File(FileEventLog::open_on(disk, root, options)?)
            }
            Place::Nats(config) => open_nats(config)?,
        };
        Ok(OpenLog::new(log))
    }

    /// Opens the log so that it can be repaired. What is configured to be kept or
    /// not is left to those who append.
    pub(in crate::commands) fn open_to_repair(&self) -> Result<OpenLog, Failure> {
        let place = self.place()?;
        let log = match &place {
            Place::Sqlite(path) => {
                AnyEventLog::Sqlite(SqliteEventLog::open(path, DEFAULT_QUEUE_DEPTH)?)
            }
            Place::Files(root) => AnyEventLog::File(FileEventLog::open(root, DEFAULT_QUEUE_DEPTH)?),
            Place::Nats(config) => open_nats(config)?,
        };
        Ok(OpenLog::new(log))
    }

    /// Opens the log to add to it, as those do who write there.
    pub(in crate::commands) fn open_to_write(&self) -> Result<OpenLog, Failure> {
        match self.place()? {
            Place::Nats(config) => {
                let log = NatsEventLog::open(*config)?;
                Ok(OpenLog::new(AnyEventLog::Nats(log)))
            }
            Place::Sqlite(_) | Place::Files(_) => self.open_to_repair(),
        }
    }

    fn place(&self) -> Result<Place, Failure> {
        match &self.log {
            Some(path) => Place::named(path),
            None => Place::configured(self.base.as_deref()),
        }
    }
}

/// What an acknowledgement means does not matter to who appends nothing.
fn open_nats(config: &NatsConfig) -> Result<AnyEventLog, LogError> {
    let mut config = config.clone();
    config.acknowledgements = AcknowledgementPolicy::AcceptUnsynced;
    NatsEventLog::open(config).map(AnyEventLog::Nats)
}

impl OpenLog {
    fn new(log: AnyEventLog) -> Self {
        Self { log: Arc::new(log) }
    }

    /// All topics, sorted, also those that are damaged.
    pub(in crate::commands) fn topics(&self) -> Result<Vec<Topic>, LogError> {
        block_on(self.log.topics())
    }
}
