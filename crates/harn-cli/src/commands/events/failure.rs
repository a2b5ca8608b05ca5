//! Why a command over the event log stops.

use std::io;

use harn_log::{Damage, LogError};

use super::Outcome;
use crate::output::{Output, Untrusted};

/// Why a command stops. Those of the second and third kind are told and make the
/// exit code 1; the first kind is for `main`, which knows about closed pipes.
#[derive(Debug)]
pub(in crate::commands) enum Failure {
    /// The answer cannot be written.
    Answer(io::Error),
    /// The log fails.
    Log(LogError),
    /// Something else, in words for the person who asked.
    Told(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Answer(error)
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl Failure {
    /// Says what went wrong and what can be done about it.
    pub(in crate::commands) fn tell(self, output: &mut Output) -> io::Result<Outcome> {
        match self {
            Self::Answer(error) => return Err(error),
            Self::Told(text) => output.error(format_args!("{}", Untrusted(text))),
            Self::Log(error) => {
                output.error(format_args!("{}", Untrusted(&error)));
                if damage_in(&error).is_some() {
                    output.note(format_args!(
                        "`harn events repair` cuts off a torn end and tells what else is damaged; \
                         with --skip-damage, show and export read what is left"
                    ));
                }
            }
        }
        Ok(Outcome::Problems)
    }
}

/// Where the log is damaged, if that is what the error is about.
pub(in crate::commands) fn damage_in(error: &LogError) -> Option<&Damage> {
    match error {
        LogError::Damaged(damage) => Some(damage),
        LogError::Shared(error) | LogError::Poisoned(error) => damage_in(error),
        _ => None,
    }
}
