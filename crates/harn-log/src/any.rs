//! A log of any backend.

use std::sync::Arc;

use crate::delegate::delegate_event_log;
use crate::event::LogEvent;
use crate::file::FileEventLog;
use crate::log::{
    AppendOutcome, Batch, CompactForce, CompactReport, EventLogDescription, LogEventBytes,
    LogHealth, Result,
};
use crate::memory::MemoryEventLog;
use crate::name::{ConsumerId, EventId, Topic};
#[cfg(feature = "nats")]
use crate::nats::NatsEventLog;
use crate::owner::Owners;
use crate::provenance::EventLogVerificationReport;
#[cfg(feature = "sqlite")]
use crate::sqlite::SqliteEventLog;
use crate::stream::EventStream;

/// A log of any of the backends there are.
pub enum AnyEventLog {
    /// Lives as long as the process.
    Memory(Arc<MemoryEventLog>),
    /// In files a person can read.
    File(Arc<FileEventLog>),
    /// In a SQLite file.
    #[cfg(feature = "sqlite")]
    Sqlite(Arc<SqliteEventLog>),
    /// On NATS JetStream.
    #[cfg(feature = "nats")]
    Nats(Arc<NatsEventLog>),
}

/// What an append survives without a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendSurvives {
    /// It goes with the process.
    Nothing,
    /// The system has it: it survives the death of the process, and no power cut.
    ProcessDeath,
    /// It is as durable as with a barrier.
    PowerCut,
}

impl AnyEventLog {
    /// Who writes what. On NATS only the users of this one log exclude each other: other
    /// machines are not asked.
    pub fn owners(&self) -> &Arc<Owners> {
        match self {
            Self::Memory(log) => log.owners(),
            Self::File(log) => log.owners(),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(log) => log.owners(),
            #[cfg(feature = "nats")]
            Self::Nats(log) => log.owners(),
        }
    }

    /// Takes up work again after a write has failed, from what is really stored. Backends that
    /// undo a failed write by themselves have nothing to do.
    ///
    /// # Errors
    /// What is stored cannot be read, or not be written to.
    pub async fn recover(&self) -> Result<()> {
        match self {
            Self::File(log) => log.recover().await,
            Self::Memory(_) => Ok(()),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(log) => log.recover().await,
            #[cfg(feature = "nats")]
            Self::Nats(_) => Ok(()),
        }
    }
}

impl AnyEventLog {
    /// What an append survives without a barrier.
    pub fn append_survives(&self) -> AppendSurvives {
        match self {
            Self::Memory(_) => AppendSurvives::Nothing,
            Self::File(_) => AppendSurvives::ProcessDeath,
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => AppendSurvives::PowerCut,
            #[cfg(feature = "nats")]
            Self::Nats(_) => AppendSurvives::PowerCut,
        }
    }

    /// Makes readable what other processes have appended before this. Readers see it soon without
    /// this; a process that is about to go on where another one has ended needs to see all of it.
    ///
    /// # Errors
    /// What is stored cannot be read, or another process does not let go of the log.
    pub async fn catch_up(&self) -> Result<()> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(log) => log.catch_up().await,
            // Files and servers show each record to all readers at once.
            Self::File(_) | Self::Memory(_) => Ok(()),
            #[cfg(feature = "nats")]
            Self::Nats(_) => Ok(()),
        }
    }

    /// Appends here and now, on the thread that asks, if the log can do that without keeping the
    /// thread for long. What it gives would survive a power cut. For whoever has nothing to do
    /// until then: to be woken by another thread takes longer than a good disk.
    ///
    /// `None` if not; then nothing has happened.
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(unused_variables, reason = "only SQLite can do that")
    )]
    pub fn append_batches_here(&self, batches: &[Batch]) -> Option<Vec<Result<Vec<EventId>>>> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(log) => log.append_batches_here(batches),
            _ => None,
        }
    }

    /// Appends as [`append_batches`](crate::EventLog::append_batches) does, without anybody who
    /// waits: `then` is given the batches back, with what became of them, when they would
    /// survive a power cut. It is called on the thread that writes, which it must not keep.
    ///
    /// # Errors
    /// With this log somebody has to wait. The batches come back.
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(unused_variables, reason = "only SQLite can do that")
    )]
    pub fn append_batches_then(
        &self,
        batches: Vec<Batch>,
        then: impl FnOnce(Vec<Batch>, Vec<Result<Vec<EventId>>>) + Send + 'static,
    ) -> std::result::Result<(), Vec<Batch>> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(log) => log.append_batches_then(batches, then),
            _ => Err(batches),
        }
    }
}

macro_rules! with_any {
    ($self:ident, $log:ident => $call:expr) => {
        match &*$self {
            Self::Memory($log) => $call,
            Self::File($log) => $call,
            #[cfg(feature = "sqlite")]
            Self::Sqlite($log) => $call,
            #[cfg(feature = "nats")]
            Self::Nats($log) => $call,
        }
    };
}

delegate_event_log!(AnyEventLog, with_any);
