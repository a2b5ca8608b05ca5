//! Bodies that run on their own.

use smol_str::SmolStr;

use super::Place;

/// A frame, by its position in [`super::Resolved::frames`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

/// What a frame is the body of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The file.
    Top,
    /// A function or a method, which gives nil unless it returns.
    Function,
    /// A closure or a tool, which gives the value of its last statement.
    Closure,
    /// A pipeline.
    Pipeline,
    /// The body of `spawn` or `parallel`.
    Task,
}

/// A body that runs on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is the body of.
    pub kind: FrameKind,
    /// The frame around it.
    pub parent: Option<FrameId>,
    /// Where the body begins with its brace; 0 for the file itself. Pipelines that extend each
    /// other share a frame, which begins with the first of them.
    pub start: u32,
    /// How many slots it needs.
    pub slots: u32,
    /// What it takes along from the frames around it, when it is made.
    pub captures: Vec<Capture>,
}

/// Something that is taken along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Its name.
    pub name: SmolStr,
    /// Where it is in the frame around: a slot, a capture of that one, or the top level.
    pub from: Place,
    /// Whether it is a function with a name, which may be declared later and is found when it
    /// is called.
    pub is_late: bool,
    /// Whether the body assigns to it. Then every activation needs a copy of its own.
    pub is_assigned: bool,
}
