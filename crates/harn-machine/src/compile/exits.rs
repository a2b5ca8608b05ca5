//! Leaving blocks early.
//!
//! `return`, `break`, `continue` and `?` leave everything that is around them, from the inside
//! out. On the way they do what has to be done in any case:
//!
//! ```text
//! a loop      nothing, or it is where `break` and `continue` go
//! a catch     nothing: it is about errors only
//! a cleanup   a few instructions: a deadline ends, a lock is given back, a permit let go of
//! a finally   the kind of exit and its value are put aside, and control goes to the block,
//!             which is there once. After it, the exit goes on from there
//! ```
//!
//! Errors do not cost anything as long as there are none: the function lists which part of its
//! code each handler is responsible for. What an exit does on its way out is no longer part of
//! what it leaves, so those parts have holes.

use super::emit::Jump;
use super::unit::Compiler;
use crate::code::{Handler, Op};
use crate::registry::BuiltinId;

/// Something that can be left.
pub(super) enum Region {
    Loop(Loop),
    Guarded(Guarded),
}

/// A loop.
#[derive(Default)]
pub(super) struct Loop {
    pub(super) breaks: Vec<Jump>,
    pub(super) continues: Vec<Jump>,
}

/// Code whose errors are handled.
pub(super) struct Guarded {
    /// The register that gets the error.
    pub(super) register: u16,
    pub(super) kind: GuardKind,
    /// Where the part that is being written begins.
    start: usize,
    /// The parts that are written.
    parts: Vec<(usize, usize)>,
}

/// What is done when guarded code is left.
pub(super) enum GuardKind {
    Catch,
    Deadline,
    /// With the register of the permit.
    Mutex(u16),
    /// With the register of the permit.
    Permit(u16),
    /// With the register of the span.
    Span(u16),
    Finally(Finally),
}

/// A block that runs in any case.
pub(super) struct Finally {
    /// The register that says how the code was left.
    pub(super) kind: u16,
    /// The exits that were used.
    pub(super) exits: Vec<Exit>,
    /// The jumps to the block.
    pub(super) jumps: Vec<Jump>,
}

/// How code is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Return,
    Break,
    Continue,
}

/// What is in the register of a `finally` if the code came to its end.
pub(super) const COMPLETED: i64 = 0;
/// What is in it if the code failed.
pub(super) const FAILED: i64 = 1;

impl Exit {
    /// What is in the register of a `finally` if the code was left this way.
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Return => 2,
            Self::Break => 3,
            Self::Continue => 4,
        }
    }
}

impl Compiler<'_> {
    /// Code that begins here is guarded.
    pub(super) fn guard(&mut self, register: u16, kind: GuardKind) {
        let start = self.here();
        self.body.regions.push(Region::Guarded(Guarded {
            register,
            kind,
            start,
            parts: Vec::new(),
        }));
    }

    /// The guarded code ends here.
    pub(super) fn end_guard(&mut self) -> Option<Guarded> {
        let here = self.here();
        match self.body.regions.pop() {
            Some(Region::Guarded(mut guarded)) => {
                guarded.suspend(here);
                Some(guarded)
            }
            _ => None,
        }
    }

    /// Errors in guarded code go to the instruction that comes next.
    pub(super) fn handle(&mut self, guarded: &Guarded) {
        self.handle_at(guarded, self.here());
    }

    /// Errors in guarded code go to an instruction.
    pub(super) fn handle_at(&mut self, guarded: &Guarded, target: usize) {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let target = narrow(target);
        let handlers = guarded.parts.iter().map(|(start, end)| Handler {
            start: narrow(*start),
            end: narrow(*end),
            target,
            register: guarded.register,
        });
        self.body.handlers.extend(handlers);
    }

    /// Whether something would notice if the frame were given up.
    pub(super) fn is_guarded(&self) -> bool {
        let is_guard = |region: &Region| matches!(region, Region::Guarded(_));
        self.body.regions.iter().any(is_guard)
    }

    /// Leaves what is around, with a value if it is a `return` of one.
    pub(super) fn leave(&mut self, at: u32, exit: Exit, value: Option<u16>) {
        let is_loop = |region: &Region| matches!(region, Region::Loop(_));
        // A deferred block has no loop around it any more.
        let exit = match self.body.regions.iter().any(is_loop) {
            true => exit,
            false => Exit::Return,
        };
        let outermost = self.leave_regions(at, exit, value);
        let here = self.here();
        for region in &mut self.body.regions[outermost..] {
            if let Region::Guarded(guarded) = region {
                guarded.start = here;
            }
        }
    }

    /// The same, without going on with the guards. Gives the position of the outermost region
    /// that was left.
    fn leave_regions(&mut self, at: u32, exit: Exit, value: Option<u16>) -> usize {
        for position in (0..self.body.regions.len()).rev() {
            let here = self.here();
            let cleanup = match &mut self.body.regions[position] {
                Region::Loop(_) if exit == Exit::Return => Cleanup::Nothing,
                Region::Loop(_) => Cleanup::Loop,
                Region::Guarded(guarded) => {
                    guarded.suspend(here);
                    guarded.cleanup(exit)
                }
            };
            match cleanup {
                Cleanup::Nothing => {}
                Cleanup::Deadline => self.op(at, Op::DeadlinePop, 0, 0, 0),
                Cleanup::Mutex(permit) => self.give_back(at, permit),
                Cleanup::Permit(permit) => self.let_go(at, permit),
                Cleanup::Span(span) => self.close_span(at, span),
                Cleanup::Held(permit) => {
                    let last = self.temporary();
                    self.copy(at, last, permit);
                }
                Cleanup::Loop => {
                    let jump = self.jump(at, Op::Jump, 0);
                    if let Region::Loop(around) = &mut self.body.regions[position] {
                        around.jumps(exit).push(jump);
                    }
                    return position;
                }
                Cleanup::Finally { kind, register } => {
                    match value {
                        Some(value) => self.copy(at, register, value),
                        None => self.load_nil(at, register),
                    }
                    self.load_int(at, kind, i64::from(exit.number()));
                    let jump = self.jump(at, Op::Jump, 0);
                    self.jump_to_finally(position, jump);
                    return position;
                }
            }
        }
        self.return_from_frame(at, value);
        0
    }

    /// Returns when nothing is left to be done.
    pub(super) fn return_from_frame(&mut self, at: u32, value: Option<u16>) {
        match value.filter(|_| !self.body.gives_nothing) {
            Some(value) => self.op(at, Op::Return, value, 0, 0),
            None => self.op(at, Op::ReturnNil, 0, 0, 0),
        }
    }

    fn jump_to_finally(&mut self, position: usize, jump: Jump) {
        if let Some(Region::Guarded(guarded)) = self.body.regions.get_mut(position)
            && let GuardKind::Finally(finally) = &mut guarded.kind
        {
            finally.jumps.push(jump);
        }
    }

    /// Releases the lock that `mutex` holds.
    pub(super) fn give_back(&mut self, at: u32, permit: u16) {
        let mark = self.mark();
        let window = self.temporary();
        self.copy(at, window, permit);
        let release = self.known_builtin("sync_release");
        self.op_n(at, Op::CallBuiltin, 1, window, window, release);
        self.release(mark);
    }

    /// A builtin that the language itself needs.
    pub(super) fn known_builtin(&mut self, name: &str) -> u16 {
        match BuiltinId::find(name) {
            Some(id) => id.position(),
            None => {
                self.fail("the language lacks a builtin");
                0
            }
        }
    }
}

enum Cleanup {
    Nothing,
    Deadline,
    Mutex(u16),
    Permit(u16),
    /// A permit that is held up to here.
    Held(u16),
    Span(u16),
    Loop,
    Finally {
        kind: u16,
        register: u16,
    },
}

impl Guarded {
    /// What comes from here on is not guarded.
    fn suspend(&mut self, here: usize) {
        if self.start < here {
            self.parts.push((self.start, here));
        }
        self.start = here;
    }

    fn cleanup(&mut self, exit: Exit) -> Cleanup {
        match &mut self.kind {
            GuardKind::Catch => Cleanup::Nothing,
            GuardKind::Deadline => Cleanup::Deadline,
            GuardKind::Mutex(permit) => Cleanup::Mutex(*permit),
            // It may be what is returned, and goes with the frame if it is not.
            GuardKind::Permit(permit) if exit == Exit::Return => Cleanup::Held(*permit),
            GuardKind::Permit(permit) => Cleanup::Permit(*permit),
            GuardKind::Span(span) => Cleanup::Span(*span),
            GuardKind::Finally(finally) => {
                if !finally.exits.contains(&exit) {
                    finally.exits.push(exit);
                }
                Cleanup::Finally {
                    kind: finally.kind,
                    register: self.register,
                }
            }
        }
    }
}

impl Loop {
    fn jumps(&mut self, exit: Exit) -> &mut Vec<Jump> {
        match exit {
            Exit::Continue => &mut self.continues,
            Exit::Break | Exit::Return => &mut self.breaks,
        }
    }
}
