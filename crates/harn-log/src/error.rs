//! What can go wrong with a log.

use std::io;

use crate::name::EventId;

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
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Io(error) => matches!(
                error.kind(),
                io::ErrorKind::Interrupted | io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
            ),
            Self::StaleTopicHead { .. } | Self::CompactionBlocked { .. } => true,
            Self::Config(_)
            | Self::InvalidTopic(_)
            | Self::InvalidConsumer(_)
            | Self::InvalidHeader
            | Self::Serde(_)
            | Self::ConsumerLagged(_)
            | Self::CursorBeyondHead { .. } => false,
        }
    }
}
