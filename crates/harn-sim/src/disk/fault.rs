//! What can go wrong with an operation.

/// What goes wrong, and with which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the operation, counted from 1 since the disk was made.
    pub at: u64,
    /// What goes wrong with it.
    pub kind: FaultKind,
}

/// What goes wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It fails and does nothing.
    Fail,
    /// It fails and has done everything, as when the answer is lost.
    FailAfter,
    /// A write does a part; anything else fails.
    Short,
    /// A write does a part and the next operation fails, as when the disk is full.
    ShortThenFail,
    /// This and the next few operations fail.
    FailForAWhile,
    /// A sync fails, and the system forgets what was to be synced while still
    /// showing it; anything else fails.
    FailForgetting,
    /// The process or the power goes before it.
    CrashBefore(Crash),
    /// The process or the power goes in the middle of it.
    CrashWithin(Crash),
    /// The process or the power goes after it.
    CrashAfter(Crash),
}

impl FaultKind {
    /// All there are.
    pub const ALL: [Self; 12] = [
        Self::Fail,
        Self::FailAfter,
        Self::Short,
        Self::ShortThenFail,
        Self::FailForAWhile,
        Self::FailForgetting,
        Self::CrashBefore(Crash::Process),
        Self::CrashWithin(Crash::Process),
        Self::CrashAfter(Crash::Process),
        Self::CrashBefore(Crash::Power),
        Self::CrashWithin(Crash::Power),
        Self::CrashAfter(Crash::Power),
    ];
}

/// What ends everything that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed. What it has written is in the hands of the system.
    Process,
    /// The power goes. What was synced is still there, and of the rest, some.
    Power,
}
