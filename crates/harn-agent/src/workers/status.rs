//! How a worker is.

use harn_events::WorkerEvent;

/// How a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It works.
    Running,
    /// It waits for the next task.
    Awaiting,
    /// It pauses between two turns.
    Suspended,
    /// Its last cycle is done.
    Completed,
    /// Its last cycle failed.
    Failed,
    /// Somebody has stopped it.
    Cancelled,
    /// The process in which it worked is gone.
    Interrupted,
}

impl Status {
    const ALL: [Self; 7] = [
        Self::Running,
        Self::Awaiting,
        Self::Suspended,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Interrupted,
    ];

    /// The word for it in handles and files. Events have words of their own.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Awaiting => "awaiting",
            Self::Suspended => "suspended",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// The status of that word.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Whether waiting for the worker goes on.
    pub(crate) fn is_waited_for(self) -> bool {
        matches!(self, Self::Running | Self::Awaiting)
    }

    /// The event after which a worker is so.
    pub(crate) fn event(self) -> WorkerEvent {
        match self {
            Self::Running | Self::Interrupted => WorkerEvent::WorkerSpawned,
            Self::Awaiting => WorkerEvent::WorkerWaitingForInput,
            Self::Suspended => WorkerEvent::WorkerSuspended,
            Self::Completed => WorkerEvent::WorkerCompleted,
            Self::Failed => WorkerEvent::WorkerFailed,
            Self::Cancelled => WorkerEvent::WorkerCancelled,
        }
    }
}
