//! Shortens conversations that have become too long.
//!
//! ```text
//! messages   0 … keep_first … split … count
//!            └ kept ┘└ archived ┘└─ kept ─┘
//!                        │
//!                        └─► one summary, in the place of what it sums up
//! ```
//!
//! [`Policy`] says how, [`archived_range`] which messages go, [`compact`] does it and says which
//! positions it has replaced. Whoever compacts keeps the messages that went: a session in its
//! journal, `transcript_compact` in an asset. When to compact is decided by the caller, too: a
//! loop at its threshold, and again when a provider says that a request was too long. There, a
//! compaction that archives nothing means that another try is useless.

mod builtins;
mod choice;
mod engine;
mod options;
mod policy;
mod prompt;
mod report;
mod split;
mod summary;
#[cfg(test)]
mod tests;

pub use builtins::{
    TranscriptCompaction, transcript_auto_compact, transcript_compact, transcript_summarize,
};
pub use engine::{Compacted, NoModel, Summarizer, Template, compact};
pub use options::ManualOptions;
pub use policy::{Custom, Policy, Strategy};
pub use report::Mode;
pub use split::archived_range;
