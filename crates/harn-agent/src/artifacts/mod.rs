//! Artifacts: what an agent has made, found or checked, with what is known about it.
//!
//! ```text
//! dict ──► record ──► select ──► render ──► prompt
//!            ▲           what fits       as text or JSON
//! files, checks, diffs, reviews ── make
//! chart, table, graph ──► live ──► shown while the session goes on
//! ```
//!
//! An artifact is a value that a program holds in its hands; nothing here remembers one. A
//! selection therefore costs what its list costs, whatever came before.

mod answer;
mod diff;
mod kind;
mod live;
mod make;
mod record;
mod render;
mod select;
#[cfg(test)]
mod tests;

pub(crate) use answer::answer;
pub use live::{LiveArtifact, LiveError};
pub use record::Artifact;
pub use render::artifact_context;
pub use select::{ContextPolicy, select, select_adaptive};

/// What a new record needs from the world.
pub struct Making<'a> {
    /// The time, as records show it.
    pub now: &'a str,
    /// Gives an id that nobody else has.
    pub new_id: &'a (dyn Fn() -> String + Send + Sync),
}
