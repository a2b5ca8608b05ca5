//! Questions to people.
//!
//! ```text
//! builtin ─► Request ─► the log, and a waitpoint ─► … a response ─► Verdict ─► value or error
//!               └─► a mocked host answers at once
//! ```
//!
//! A response is an event of the log as well, so anybody who can write there can answer: the
//! host, another process, or another task of the program.

mod asking;
mod builtins;
mod coerce;
mod errors;
mod mocked;
mod options;
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
}

/// The event that a response is.
const RESPONDED: &str = "hitl.response_received";

/// The event that nobody answered in time.
const TIMED_OUT: &str = "hitl.timeout";
