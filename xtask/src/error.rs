//! What can stop a chore. A failed check is not an error: it is counted on the
//! [`scoreboard`](crate::scoreboard) and the next check goes on.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a chore could not do its work.
#[derive(Debug)]
pub(crate) enum Error {
    /// The command line makes no sense. Shown with the usage page, exit code 2.
    Usage(String),
    /// A file could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// A program could not be started or listened to.
    Start { program: String, source: io::Error },
    /// A program ran and said no.
    Failed { command: String, outcome: String },
    /// A file or an answer was not in the form it promised.
    Malformed { what: String, why: String },
    /// Files derived from data are out of date.
    Stale(Vec<String>),
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// For `map_err` after a file operation.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }

    pub(crate) fn malformed(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::Malformed {
            what: what.to_string(),
            why: why.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => out.write_str(message),
            Self::File { path, source } => write!(out, "{}: {source}", path.display()),
            Self::Start { program, source } => write!(out, "could not run `{program}`: {source}"),
            Self::Failed { command, outcome } => write!(out, "`{command}` failed: {outcome}"),
            Self::Malformed { what, why } => write!(out, "{what} is malformed: {why}"),
            Self::Stale(files) => write!(
                out,
                "out of date: {}; run `cargo xtask gen`",
                files.join(", ")
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } | Self::Start { source, .. } => Some(source),
            Self::Usage(_) | Self::Failed { .. } | Self::Malformed { .. } | Self::Stale(_) => None,
        }
    }
}
