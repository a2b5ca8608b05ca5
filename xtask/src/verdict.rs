//! The answer of a check: fine, or a sentence about what is wrong.
//!
//! This is not an [`Error`]: the chore worked, and what it looked at is not as
//! it should be. A check that could not even be made complains with the reason.

use std::fmt;

use crate::error::Error;

/// What a check has found out.
pub(crate) type Verdict = Result<(), Complaint>;

/// What is wrong, for a person to read. Nothing is ever decided by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint(String);

/// A complaint as the whole answer.
pub(crate) fn complain<T>(sentence: impl Into<String>) -> Result<T, Complaint> {
    Err(Complaint(sentence.into()))
}

impl fmt::Display for Complaint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<Error> for Complaint {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}
