//! Values that are remembered together with what they were made from.
//!
//! ```text
//! inputs            derived values                   an edit
//! text ──────────► parsed ──► outline ──┬─► exports ──► imported ──► checks
//! layout ─────────► resolutions ────────┘      ▲
//!                                   comes out equal: nothing after it is made again
//! ```
//!
//! Every change to an input has a number, its revision. A value knows the revision up to which
//! it is known to be right and the one at which it last changed. To see whether it is still
//! right one asks what it was made from; only if one of those has changed since is it made
//! again, and only if it comes out different has it changed itself.

use std::sync::Arc;

/// How many changes to inputs there have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Revision(u64);

impl Revision {
    /// The next one.
    pub(super) fn advance(&mut self) -> Self {
        self.0 += 1;
        *self
    }
}

/// A file, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId(pub(super) u32);

/// What a value was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dependency {
    /// Which files there are.
    Layout,
    /// The text of a file.
    Text(FileId),
    /// The tree of a file.
    Parsed(FileId),
    /// What a file declares.
    Outline(FileId),
    /// Where its imports lead.
    Resolutions(FileId),
    /// What it exports.
    Exports(FileId),
}

/// A remembered value.
#[derive(Debug)]
pub(super) struct Memo<T> {
    pub(super) value: T,
    pub(super) dependencies: Arc<[Dependency]>,
    /// It is known to be right up to here.
    pub(super) verified_at: Revision,
    /// It became what it is here.
    pub(super) changed_at: Revision,
}
