//! What people are asked for, and the names the log has for it.

use std::fmt;

/// What a person is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// An answer.
    Question,
    /// That they agree.
    Approval,
    /// That several of them agree.
    DualControl,
    /// That they take over.
    Escalation,
}

impl RequestKind {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Question,
        Self::Approval,
        Self::DualControl,
        Self::Escalation,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::DualControl => "dual_control",
            Self::Escalation => "escalation",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Where the log keeps such requests.
    pub fn topic(self) -> &'static str {
        match self {
            Self::Question => "hitl.questions",
            Self::Approval => "hitl.approvals",
            Self::DualControl => "hitl.dual_control",
            Self::Escalation => "hitl.escalations",
        }
    }

    /// The event that such a request is.
    pub fn asked(self) -> &'static str {
        match self {
            Self::Question => "hitl.question_asked",
            Self::Approval => "hitl.approval_requested",
            Self::DualControl => "hitl.dual_control_requested",
            Self::Escalation => "hitl.escalation_issued",
        }
    }

    /// Whether several people may have to agree.
    pub fn is_approval(self) -> bool {
        matches!(self, Self::Approval | Self::DualControl)
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
