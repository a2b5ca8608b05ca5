//! A command that cannot be judged.

use std::fmt;

/// Why a command cannot be taken apart. It may still be a fine command; no rule allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// What it is that is not understood.
    pub reason: String,
    /// Where, in bytes from the start of the text.
    pub position: usize,
}

impl NotUnderstood {
    pub(crate) fn new(reason: impl Into<String>, position: usize) -> Self {
        Self {
            reason: reason.into(),
            position,
        }
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at {})", self.reason, self.position)
    }
}

impl std::error::Error for NotUnderstood {}
