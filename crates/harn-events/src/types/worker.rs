//! The life of a worker: typed transitions, the status each leads to, and which
//! transition may follow which.
//!
//! ```text
//! (unstarted) ──spawned──► running ⇄ progressed ⇄ awaiting_input
//!                             │  ▲
//!                    suspended│  │resumed
//!                             ▼  │
//!                          suspended        any of them ──► completed | failed
//!                                                           stopped | cancelled
//! ```
//!
//! A suspended worker must resume before it completes; the other three endings
//! are open to it. Emitters never produce an invalid sequence; a reader that
//! meets one keeps the record and flags it.

use super::string_enum::string_enum;

string_enum! {
    /// Worker transition. The JSON value is the variant name; the status is derived.
    pub enum WorkerEvent {
        /// The worker started.
        WorkerSpawned = "WorkerSpawned",
        /// It reported progress.
        WorkerProgressed = "WorkerProgressed",
        /// It waits for input.
        WorkerWaitingForInput = "WorkerWaitingForInput",
        /// It was put aside.
        WorkerSuspended = "WorkerSuspended",
        /// It goes on after a suspension.
        WorkerResumed = "WorkerResumed",
        /// It ended successfully.
        WorkerCompleted = "WorkerCompleted",
        /// It ended with an error.
        WorkerFailed = "WorkerFailed",
        /// It was stopped in good order.
        WorkerStopped = "WorkerStopped",
        /// It was cancelled.
        WorkerCancelled = "WorkerCancelled",
    }
}

impl WorkerEvent {
    /// The status a worker has after this transition, as written in `worker_update.status`.
    pub fn as_status(self) -> &'static str {
        self.status().as_str()
    }

    /// The status a worker has after this transition.
    pub fn status(self) -> WorkerStatus {
        match self {
            Self::WorkerSpawned | Self::WorkerResumed => WorkerStatus::Running,
            Self::WorkerProgressed => WorkerStatus::Progressed,
            Self::WorkerWaitingForInput => WorkerStatus::AwaitingInput,
            Self::WorkerSuspended => WorkerStatus::Suspended,
            Self::WorkerCompleted => WorkerStatus::Completed,
            Self::WorkerFailed => WorkerStatus::Failed,
            Self::WorkerStopped => WorkerStatus::Stopped,
            Self::WorkerCancelled => WorkerStatus::Cancelled,
        }
    }

    /// Whether the worker is over after this transition.
    pub fn is_terminal(self) -> bool {
        self.status().is_terminal()
    }

    /// The transition a bare status stands for, for records whose `event` is
    /// missing or newer than this reader.
    pub fn from_status(status: WorkerStatus) -> Self {
        match status {
            WorkerStatus::Running => Self::WorkerSpawned,
            WorkerStatus::Progressed => Self::WorkerProgressed,
            WorkerStatus::AwaitingInput => Self::WorkerWaitingForInput,
            WorkerStatus::Suspended => Self::WorkerSuspended,
            WorkerStatus::Completed => Self::WorkerCompleted,
            WorkerStatus::Failed => Self::WorkerFailed,
            WorkerStatus::Stopped => Self::WorkerStopped,
            WorkerStatus::Cancelled => Self::WorkerCancelled,
        }
    }
}

string_enum! {
    /// Where a worker stands.
    pub enum WorkerStatus {
        /// At work.
        Running = "running",
        /// At work, and said so.
        Progressed = "progressed",
        /// Waiting for input.
        AwaitingInput = "awaiting_input",
        /// Put aside.
        Suspended = "suspended",
        /// Ended successfully.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Stopped in good order.
        Stopped = "stopped",
        /// Cancelled.
        Cancelled = "cancelled",
    }
}

impl WorkerStatus {
    /// Reads a status, its own word or one of the aliases older writers used.
    /// Aliases are read, never written.
    pub fn from_status(text: &str) -> Option<Self> {
        Self::from_wire(text).or(match text {
            "awaiting" => Some(Self::AwaitingInput),
            "done" | "succeeded" | "success" | "ok" => Some(Self::Completed),
            "error" | "errored" | "timeout" | "timed_out" => Some(Self::Failed),
            "canceled" | "aborted" => Some(Self::Cancelled),
            _ => None,
        })
    }

    /// Whether a worker in this status is over.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Stopped | Self::Cancelled => true,
            Self::Running | Self::Progressed | Self::AwaitingInput | Self::Suspended => false,
        }
    }
}

/// Follows one worker and says which transitions are legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLifecycle {
    /// `None` until the worker is spawned.
    status: Option<WorkerStatus>,
}

/// A transition that must not follow the status a worker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event} cannot follow status {}", .from.map_or("unstarted", WorkerStatus::as_str))]
pub struct InvalidTransition {
    /// Status before; `None` for a worker that was never spawned.
    pub from: Option<WorkerStatus>,
    /// The offending transition.
    pub event: WorkerEvent,
}

impl WorkerLifecycle {
    /// Where the worker stands; `None` before it is spawned.
    pub fn status(&self) -> Option<WorkerStatus> {
        self.status
    }

    /// Applies a transition and returns the new status.
    ///
    /// # Errors
    /// An illegal transition changes nothing.
    pub fn apply(&mut self, event: WorkerEvent) -> Result<WorkerStatus, InvalidTransition> {
        let legal = match self.status {
            None => event == WorkerEvent::WorkerSpawned,
            Some(WorkerStatus::Suspended) => !matches!(
                event,
                WorkerEvent::WorkerProgressed
                    | WorkerEvent::WorkerWaitingForInput
                    | WorkerEvent::WorkerCompleted
            ),
            Some(status) if status.is_terminal() => event.status() == status,
            Some(_) => true,
        };
        if !legal {
            return Err(InvalidTransition {
                from: self.status,
                event,
            });
        }
        let status = event.status();
        self.status = Some(status);
        Ok(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use WorkerEvent::*;

    #[track_caller]
    fn check(events: &[WorkerEvent], legal: bool) {
        let mut worker = WorkerLifecycle::default();
        let (last, before) = events.split_last().expect("at least one event");
        for event in before {
            worker
                .apply(*event)
                .expect("the sequence leading up to the last event is legal");
        }
        let status = worker.status();
        assert_eq!(worker.apply(*last).is_ok(), legal, "{events:?}");
        if !legal {
            assert_eq!(
                worker.status(),
                status,
                "an illegal transition changes nothing"
            );
        }
    }

    #[test]
    fn an_unstarted_worker_can_only_be_spawned() {
        for event in WorkerEvent::ALL {
            check(&[*event], *event == WorkerSpawned);
        }
    }

    #[test]
    fn a_working_worker_takes_every_transition() {
        for before in [WorkerProgressed, WorkerWaitingForInput] {
            for event in WorkerEvent::ALL {
                check(&[WorkerSpawned, *event], true);
                check(&[WorkerSpawned, before, *event], true);
            }
        }
    }

    #[test]
    fn a_suspended_worker_resumes_before_it_completes() {
        for event in WorkerEvent::ALL {
            let legal = !matches!(
                event,
                WorkerProgressed | WorkerWaitingForInput | WorkerCompleted
            );
            check(&[WorkerSpawned, WorkerSuspended, *event], legal);
        }
        check(
            &[
                WorkerSpawned,
                WorkerSuspended,
                WorkerResumed,
                WorkerCompleted,
            ],
            true,
        );
    }

    #[test]
    fn after_the_end_only_the_same_end_may_be_repeated() {
        for end in [
            WorkerCompleted,
            WorkerFailed,
            WorkerStopped,
            WorkerCancelled,
        ] {
            for event in WorkerEvent::ALL {
                check(&[WorkerSpawned, end, *event], *event == end);
            }
        }
    }

    #[test]
    fn aliases_are_read_and_never_written() {
        for (alias, status) in [
            ("awaiting", "awaiting_input"),
            ("done", "completed"),
            ("succeeded", "completed"),
            ("success", "completed"),
            ("ok", "completed"),
            ("error", "failed"),
            ("errored", "failed"),
            ("timeout", "failed"),
            ("timed_out", "failed"),
            ("canceled", "cancelled"),
            ("aborted", "cancelled"),
        ] {
            let read = WorkerStatus::from_status(alias).expect(alias);
            assert_eq!(read.as_str(), status);
        }
        assert_eq!(WorkerStatus::from_status("hibernating"), None);
    }

    #[test]
    fn an_illegal_transition_says_what_and_from_where() {
        let mut worker = WorkerLifecycle::default();
        let error = worker.apply(WorkerCompleted).unwrap_err();
        assert_eq!(
            error.to_string(),
            "WorkerCompleted cannot follow status unstarted"
        );
    }
}
