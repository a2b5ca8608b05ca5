//! A function while it is compiled.

use std::rc::Rc;

use harn_check::resolve::FrameId;
use harn_syntax::tree::Block;
use hashbrown::HashMap;
use smol_str::SmolStr;

use super::emit::Jump;
use super::exits::Region;
use super::rounds::Round;
use crate::code::{Function, Handler, Instruction, ParameterCheck, PathStep, Site};
use crate::value::{Shape, Text, Value};

/// A function while it is compiled.
#[derive(Default)]
pub(super) struct Body {
    pub(super) frame: FrameId,
    /// Whether it can pause: it is a generator or gives a stream.
    pub(super) pauses: bool,
    /// Whether it gives nothing, whatever is returned: it is a script.
    pub(super) gives_nothing: bool,
    pub(super) code: Vec<Instruction>,
    pub(super) offsets: Vec<u32>,
    pub(super) constants: Vec<Value>,
    pub(super) constant_positions: HashMap<ConstantKey, u32>,
    pub(super) sites: Vec<Site>,
    pub(super) keys: Vec<Vec<Text>>,
    pub(super) shapes: Vec<Rc<Shape>>,
    pub(super) paths: Vec<Vec<PathStep>>,
    pub(super) functions: Vec<Rc<Function>>,
    pub(super) checks: Vec<ParameterCheck>,
    pub(super) handlers: Vec<Handler>,
    pub(super) defers: Vec<u32>,
    /// Where the last of them ends.
    pub(super) defers_end: usize,
    /// What blocks that run at the end need of rounds that are over.
    pub(super) rounds: Vec<Round>,
    /// How many loops are around the place that is being compiled.
    pub(super) loops: usize,
    /// The variables that were bound in a function with such blocks, in that order.
    pub(super) bound: Vec<u16>,

    /// The register of the resolver's first slot.
    pub(super) slot_base: u16,
    /// The register of the first variable at the top level.
    pub(super) top_base: u16,
    /// The first register that is no variable.
    pub(super) temporaries: u16,
    /// The next free register.
    pub(super) next: u16,
    /// The variable that is just being bound: nothing reads it yet.
    pub(super) fresh: Option<u16>,
    /// How many registers were in use at most.
    pub(super) registers: u16,

    /// How each capture of the frame is held.
    pub(super) held: Vec<Held>,
    /// The functions of the blocks that are open, by slot.
    pub(super) announced: HashMap<u32, Announced>,
    /// What is around the place that is being compiled, the innermost last.
    pub(super) regions: Vec<Region>,
    /// The jumps of `?` that return the value in a register.
    pub(super) unwraps: Vec<(Jump, u16)>,
    /// What is known about blocks that run at the end.
    pub(super) deferred: Option<Deferred>,
}

/// Blocks that run at the end.
pub(super) struct Deferred {
    /// The register with the list of their numbers.
    pub(super) list: u16,
    /// Those that are not compiled yet, in the order of their numbers.
    pub(super) blocks: Vec<DeferredBlock>,
}

/// A block that runs at the end.
#[derive(Clone)]
pub(super) struct DeferredBlock {
    pub(super) block: Rc<Block>,
    /// Whether it is in a loop, so that it may be reached several times.
    pub(super) is_in_loop: bool,
}

/// A function of a block that is open.
#[derive(Clone, Copy)]
pub(super) struct Announced {
    /// Whether it is in a cell.
    pub(super) is_cell: bool,
    /// Whether control has passed its declaration.
    pub(super) is_passed: bool,
}

/// How something is held that a function takes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// As a capture.
    Capture(u16),
    /// In a cell, which is a capture.
    Cell(u16),
    /// Copied into a register, where it is assigned.
    Register(u16),
    /// It is the function itself.
    Itself,
    /// It is a global, and nothing is taken along.
    Global(u32),
}

/// What makes two constants the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConstantKey {
    Int(i64),
    Float(u64),
    Duration(i64),
    Builtin(u16),
    Text(SmolStr),
    Tag(SmolStr, SmolStr),
}
