//! What can go wrong between us and a NATS server.

use async_nats::jetstream::{self, ErrorCode};

use crate::error::LogError;
use crate::name::EventId;

/// What most of this module returns: what the log promises, or what happened below.
pub(super) type Result<T, E = LogError> = std::result::Result<T, E>;

/// Why something failed, as whoever noticed it says it.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A log on NATS could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// There is no server to connect to.
    #[error("no NATS server answers at {location}: {cause}")]
    Nobody {
        /// Where one should be, without secrets.
        location: String,
        /// What was noticed last.
        #[source]
        cause: Cause,
    },
    /// Nobody answered in time. Whether the request was carried out is not known.
    #[error("could not {doing}, because no NATS server answers: {cause}")]
    Unreachable {
        /// What was tried.
        doing: &'static str,
        /// What was noticed last.
        #[source]
        cause: Cause,
    },
    /// The server said no.
    #[error("could not {doing}, because the NATS server refused: {cause}")]
    Refused {
        /// What was tried.
        doing: &'static str,
        /// What the server said.
        #[source]
        cause: jetstream::Error,
    },
    /// What is stored is not a record of ours.
    #[error("event {id} of topic '{topic}' cannot be read: {cause}")]
    Damaged {
        /// The topic.
        topic: String,
        /// Which record.
        id: EventId,
        /// What is wrong with it.
        #[source]
        cause: Cause,
    },
    /// A topic is not in the state in which we left it.
    #[error("topic '{topic}': {problem}")]
    Inconsistent {
        /// The topic.
        topic: String,
        /// What does not fit.
        problem: String,
    },
    /// The log was dropped while it had work to do.
    #[error("the log is closed")]
    Closed,
}

impl From<NatsError> for LogError {
    fn from(error: NatsError) -> Self {
        match error {
            NatsError::Closed => Self::Closed,
            error => Self::Nats(error),
        }
    }
}

impl NatsError {
    /// Whether the same call may succeed later.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Nobody { .. } | Self::Unreachable { .. } => true,
            Self::Refused { cause, .. } => is_passing(cause),
            Self::Damaged { .. } | Self::Inconsistent { .. } | Self::Closed => false,
        }
    }

    /// The same error for somebody else who is concerned.
    pub(super) fn repeat(&self) -> Self {
        match self {
            Self::Nobody { location, cause } => Self::Nobody {
                location: location.clone(),
                cause: Cause::from(cause.to_string()),
            },
            Self::Unreachable { doing, cause } => Self::Unreachable {
                doing,
                cause: Cause::from(cause.to_string()),
            },
            Self::Refused { doing, cause } => Self::Refused {
                doing,
                cause: cause.clone(),
            },
            Self::Damaged { topic, id, cause } => Self::Damaged {
                topic: topic.clone(),
                id: *id,
                cause: Cause::from(cause.to_string()),
            },
            Self::Inconsistent { topic, problem } => Self::Inconsistent {
                topic: topic.clone(),
                problem: problem.clone(),
            },
            Self::Closed => Self::Closed,
        }
    }

    /// Whether the server gave this reason.
    pub(super) fn is_refusal(&self, reasons: &[ErrorCode]) -> bool {
        match self {
            Self::Refused { cause, .. } => reasons.contains(&cause.error_code()),
            _ => false,
        }
    }
}

/// A server that is starting or choosing a leader says 503 and means "not yet".
pub(super) fn is_passing(cause: &jetstream::Error) -> bool {
    cause.code() == 503
}

/// `None` where the server says that there is no such stream or message.
pub(super) fn if_found<T>(answer: Result<T, NatsError>) -> Result<Option<T>, NatsError> {
    const MISSING: &[ErrorCode] = &[
        ErrorCode::STREAM_NOT_FOUND,
        ErrorCode::NO_MESSAGE_FOUND,
        ErrorCode::SEQUENCE_NOT_FOUND,
    ];
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_refusal(MISSING) => Ok(None),
        Err(error) => Err(error),
    }
}
