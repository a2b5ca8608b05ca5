//! A file that was read.

use std::path::Path;
use std::sync::Arc;

use harn_syntax::{LineIndex, Parsed, parse};

/// A file that was read.
#[derive(Debug)]
pub struct SourceFile {
    /// The one path it is known by; `<stdlib>/NAME.harn` for a built-in module.
    pub path: Arc<Path>,
    /// Its text.
    pub text: Arc<str>,
    /// Where the lines of its text begin.
    pub lines: LineIndex,
    /// Its tree, and what is wrong with it.
    pub parsed: Parsed,
}

impl SourceFile {
    /// A text that is in no file.
    pub fn of_text(text: &str) -> Self {
        Self::new(Arc::from(Path::new("")), Arc::from(text))
    }

    pub(super) fn new(path: Arc<Path>, text: Arc<str>) -> Self {
        Self {
            lines: LineIndex::new(&text),
            parsed: parse(&text),
            path,
            text,
        }
    }
}

/// Two are equal if their texts are, because everything else follows from it.
impl PartialEq for SourceFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}
