//! Whether what a session has left behind makes sense.
//!
//! ```text
//! events of a session ──► EventOrder ─┐
//!                                     ├─► Findings: violations, interruptions
//! records of a journal ─► JournalOrder┘
//! a log ─► check_topic ─► both, for every session in it
//! ```
//!
//! A reader of the stream relies on promises: what begins also ends, indexes have no gaps, the
//! loop passes its seams in one order. This module reads a stream and says where a promise was
//! broken, in words. Tests run it over everything they produce, and `harn events verify` over
//! the log of a user.
//!
//! A process can die at any point, so a run without an end is no broken promise as long as
//! nothing of that run comes after it. It is reported as interrupted. Nothing is checked that a
//! program could break on purpose by publishing events of its own in odd places, such as the
//! place of a `plan`.

mod events;
mod journal;
mod pairs;
mod seams;
mod stored;
#[cfg(test)]
mod tests;
mod workers;

use std::fmt;

use serde::Serialize;

pub use events::{EventOrder, Openings, Seen, check_events};
pub use journal::{check_journal, check_journal_after_cut};
pub use stored::{SessionFindings, check_topic, is_session_topic};

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The index of the record that breaks it.
    pub index: u64,
    /// What is wrong.
    pub what: String,
    /// The promise.
    pub why: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "record {}: {}; {}",
            self.index, self.what, self.why
        )
    }
}

/// A run that never came to its end. That is no violation: a process can die at any time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Interruption {
    /// The index of the last record of the run.
    pub index: u64,
    /// What the run was doing.
    pub what: String,
}

impl fmt::Display for Interruption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "interrupted after record {}: {}",
            self.index, self.what
        )
    }
}

/// What there is to say about a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Promises that were broken.
    pub violations: Vec<Violation>,
    /// Runs that never came to their end.
    pub interruptions: Vec<Interruption>,
}

impl Findings {
    /// Whether no promise was broken.
    pub fn is_sound(&self) -> bool {
        self.violations.is_empty()
    }

    fn broken(&mut self, index: u64, what: impl Into<String>, why: impl Into<String>) {
        self.violations.push(Violation {
            index,
            what: what.into(),
            why: why.into(),
        });
    }

    fn interrupted(&mut self, index: u64, what: impl Into<String>) {
        let what = what.into();
        self.interruptions.push(Interruption { index, what });
    }
}
