//! What only the machine knows on which a command would run.

use std::path::{Path, PathBuf};

/// Answers questions about files; nothing is opened for writing.
pub trait Surroundings {
    /// The file that a shell would start for a program, and after it the files that its links
    /// lead to. None at all: a command of the shell itself, or there is no such program.
    fn files(&self, program: &str) -> Vec<PathBuf>;

    /// Whether commands may change a file, so that its name says nothing about what it does.
    fn is_writable(&self, file: &Path) -> bool;

    /// Whether a command that runs here may write a file without a question.
    fn may_write(&self, file: &str) -> bool;
}

/// No machine: programs are what they are called, and every file below the folder may be
/// written.
pub struct Nowhere;

impl Surroundings for Nowhere {
    fn files(&self, _: &str) -> Vec<PathBuf> {
        Vec::new()
    }

    fn is_writable(&self, _: &Path) -> bool {
        false
    }

    fn may_write(&self, file: &str) -> bool {
        !file.starts_with('/') && !file.split('/').any(|part| part == "..")
    }
}
