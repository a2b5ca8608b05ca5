//! What can go wrong with a log.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "sqlite")]
use rusqlite::ErrorCode;

use crate::name::EventId;
#[cfg(feature = "nats")]
use crate::nats::NatsError;

/// An operation on a log failed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The configuration makes no sense.
    #[error("{0}")]
    Config(String),
    /// Not the name of a topic.
    #[error("{0}")]
    InvalidTopic(String),
    /// Not the name of a consumer.
    #[error("{0}")]
    InvalidConsumer(String),
    /// Not a header by which records can be found.
    #[error("a record cannot be found by a blank header, nor by one of the log's own")]
    InvalidHeader,
    /// The system below failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A record could not be written as JSON, or read from it.
    #[error("{0}")]
    Serde(#[from] serde_json::Error),
    /// SQLite failed.
    #[cfg(feature = "sqlite")]
    #[error("{}: {error}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        error: rusqlite::Error,
    },
    /// The log was opened for reading.
    #[error("the log was opened for reading only")]
    ReadOnly,
    /// A NATS server could not be reached, or did not do what was asked.
    #[cfg(feature = "nats")]
    #[error(transparent)]
    Nats(NatsError),
    /// The files of the log cannot be watched for the changes of others.
    #[error("cannot watch the log for new records: {0}")]
    Watch(#[source] notify::Error),
    /// What is stored is not what was written.
    #[error("{0}")]
    Damaged(Damage),
    /// An earlier failure left the log in a state that nobody has looked at since.
    #[error(
        "the log refuses to append until it is recovered, because an earlier write failed: {0}"
    )]
    Poisoned(#[source] Arc<LogError>),
    /// Another process kept a topic locked for too long.
    #[error("topic '{topic}' has been locked by another process for {waited_s} s")]
    Locked {
        /// The topic.
        topic: String,
        /// How long we waited.
        waited_s: u64,
    },
    /// A record larger than the log takes.
    #[error("a record of {bytes} bytes is too large: the log takes {bytes_max}")]
    TooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        bytes_max: usize,
    },
    /// A record that could be written, but not be read again.
    #[error("a payload may be nested {levels_max} levels deep and no deeper")]
    TooDeep {
        /// How deep it may be.
        levels_max: usize,
    },
    /// The log was closed meanwhile.
    #[error("the log is closed")]
    Closed,
    /// A group of changes failed together.
    #[error(transparent)]
    Shared(Arc<LogError>),
    /// A reader was cut off. No log of ours does that; the name is part of the contract.
    #[error("subscriber lagged behind after event {0}")]
    ConsumerLagged(EventId),
    /// Somebody else has appended meanwhile.
    #[error("topic '{topic}' has moved on: expected head {expected:?}, found {actual:?}")]
    StaleTopicHead {
        /// The topic.
        topic: String,
        /// Hash of the record that should have been the last.
        expected: Option<String>,
        /// Hash of the record that is.
        actual: Option<String>,
    },
    /// An acknowledgement of what does not exist.
    #[error("consumer '{consumer}' cannot be at {cursor}: topic '{topic}' ends at {head}")]
    CursorBeyondHead {
        /// The topic.
        topic: String,
        /// The consumer.
        consumer: String,
        /// Where it wanted to be.
        cursor: EventId,
        /// Newest id ever assigned.
        head: EventId,
    },
    /// Compaction would take records that a consumer has not read.
    #[error(
        "cannot compact topic '{topic}' up to {before}: consumer '{consumer}' has read only up to {cursor}"
    )]
    CompactionBlocked {
        /// The topic.
        topic: String,
        /// Up to where records should go.
        before: EventId,
        /// The consumer that is behind.
        consumer: String,
        /// How far it has read.
        cursor: EventId,
    },
}

impl LogError {
    /// Whether the log refuses because of an earlier failure, so that recovering may help.
    pub fn is_poisoned(&self) -> bool {
        match self {
            Self::Poisoned(_) => true,
            Self::Shared(error) => error.is_poisoned(),
            _ => false,
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Io(error) => matches!(
                error.kind(),
                io::ErrorKind::Interrupted | io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
            ),
            Self::StaleTopicHead { .. } | Self::CompactionBlocked { .. } | Self::Locked { .. } => {
                true
            }
            Self::Shared(error) => error.is_transient(),
            #[cfg(feature = "nats")]
            Self::Nats(error) => error.is_transient(),
            #[cfg(feature = "sqlite")]
            Self::Sqlite { error, .. } => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ),
            Self::Config(_)
            | Self::InvalidTopic(_)
            | Self::InvalidConsumer(_)
            | Self::InvalidHeader
            | Self::Serde(_)
            | Self::Watch(_)
            | Self::Damaged(_)
            | Self::Poisoned(_)
            | Self::TooLarge { .. }
            | Self::TooDeep { .. }
            | Self::ReadOnly
            | Self::Closed
            | Self::ConsumerLagged(_)
            | Self::CursorBeyondHead { .. } => false,
        }
    }
}

/// Where a stored record is not what was written, and in what way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The first byte of what cannot be read.
    pub offset: u64,
    /// How many bytes that is.
    pub length: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, offset) = (self.path.display(), self.offset);
        write!(f, "{path} is damaged at byte {offset}: {}", self.problem)
    }
}
