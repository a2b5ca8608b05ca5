//! Questions to people.
//!
//! ```text
//! builtin ─► Request ─► the log, and a waitpoint ─► … a response ─► Verdict ─► value or error
//!               └─► a mocked host answers at once
//! ```
//!
//! A response is an event of the log as well, so anybody who can write there can answer: the
//! host, another process, or another task of the program. A task that is stopped while it waits
//! takes its request back; the world sees to that, because the task cannot.

mod asking;
mod builtins;
mod coerce;
mod errors;
mod mocked;
mod options;
mod others;
mod pending;
mod request;
mod response;

use harn_machine::Registry;

pub(super) fn register(registry: &mut Registry) {
    builtins::register(registry);
    pending::register(registry);
}

/// What a person is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Question,
    Approval,
    DualControl,
    Escalation,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Question,
        Self::Approval,
        Self::DualControl,
        Self::Escalation,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::DualControl => "dual_control",
            Self::Escalation => "escalation",
        }
    }

    fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Where the log keeps such requests.
    fn topic(self) -> &'static str {
        match self {
            Self::Question => "hitl.questions",
            Self::Approval => "hitl.approvals",
            Self::DualControl => "hitl.dual_control",
            Self::Escalation => "hitl.escalations",
        }
    }

    /// The event that such a request is.
    fn asked(self) -> &'static str {
        match self {
            Self::Question => "hitl.question_asked",
            Self::Approval => "hitl.approval_requested",
            Self::DualControl => "hitl.dual_control_requested",
            Self::Escalation => "hitl.escalation_issued",
        }
    }

    /// Whether one response ends it, whatever it says.
    fn ends_with_a_response(self) -> bool {
        matches!(self, Self::Question | Self::Escalation)
    }

    /// Whether an event means that nobody has to answer any more.
    fn is_ended_by(self, event: &str) -> bool {
        match event {
            RESPONDED => self.ends_with_a_response(),
            TIMED_OUT
            | "hitl.approval_approved"
            | "hitl.approval_denied"
            | "hitl.dual_control_approved"
            | "hitl.dual_control_denied"
            | "hitl.dual_control_executed"
            | "hitl.escalation_accepted" => true,
            // Others may write what we do not know yet.
            _ => false,
        }
    }
}

/// The event that a response is.
const RESPONDED: &str = "hitl.response_received";

/// The event that nobody answered in time.
const TIMED_OUT: &str = "hitl.timeout";
