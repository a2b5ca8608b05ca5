//! What a check has to say when it is not happy: a place and a sentence.

use std::fmt;

/// One thing that must change before a check passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Relative to the root of the repository.
    pub(crate) file: String,
    /// Counted from one; `None` when the whole file is meant.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn in_file(file: &str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_string(),
            line: None,
            message: message.into(),
        }
    }

    pub(crate) fn at(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::in_file(file, message)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.message),
            None => write!(out, "{}: {}", self.file, self.message),
        }
    }
}
