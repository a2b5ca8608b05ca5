//! Promises that a log can be made to break.
//!
//! The crash campaign must notice each of them, or it is not worth its name. Without
//! the feature `sabotage`, which only tests switch on, none of this can be chosen.

/// A promise that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "sabotage"),
    expect(unreachable_pub, reason = "public only where it can be chosen")
)]
pub enum Sabotage {
    /// Barriers do not sync.
    SkipSync,
    /// A record has its id for good before it is written, also if that fails.
    IndexBeforeWrite,
    /// What a crash has left at the end stays there, and records follow it.
    KeepTornTail,
    /// An acknowledgement takes a consumer back.
    AckBackwards,
    /// The records of a batch are written last first.
    BatchOutOfOrder,
}
