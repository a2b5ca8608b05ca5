//! Permits: the right to go on, which ends with the block that acquired it.
//!
//! ```text
//! {
//!   let permit = sync_mutex_acquire("key")
//!   …                                        guarded: however this is left,
//! }                                          the permit is let go of
//! ```
//!
//! Other values may stay in their registers until something else comes there. A permit that
//! stays would keep others waiting, and one that is gone after its last use, or because the
//! frame was given up for a call at the end, would let others in too early. Whoever passes
//! the permit on keeps it: it is let go of here, not given back.

use harn_syntax::tree::{ExpressionKind, PatternKind, Statement, StatementKind};

use super::exits::{GuardKind, Region};
use super::name::Target;
use super::unit::Compiler;
use crate::code::Op;

/// How many permits are guarded at once. Every way out of a block lets go of all of them, so
/// without a bound a long function could grow with the square of its length; the permits
/// beyond it are held until the function ends.
const GUARDED_MAX: usize = 16;

/// A permit that the rest of a block counts on.
pub(super) struct Guard {
    at: u32,
    permit: u16,
    /// The register for errors.
    error: u16,
}

impl Compiler<'_> {
    /// Guards what follows a statement, if that acquires a permit.
    pub(super) fn hold_permit(&mut self, statement: &Statement) -> Option<Guard> {
        let permit = self.permit_of(statement)?;
        // A block that runs at the end may use it.
        if self.body.deferred.is_some() {
            return None;
        }
        let is_permit = |region: &&Region| match region {
            Region::Guarded(guarded) => matches!(guarded.kind, GuardKind::Permit(_)),
            Region::Loop(_) => false,
        };
        if self.body.regions.iter().filter(is_permit).count() >= GUARDED_MAX {
            return None;
        }
        let (at, error) = (statement.span.start, self.temporary());
        self.guard(error, GuardKind::Permit(permit));
        Some(Guard { at, permit, error })
    }

    /// The register of the permit that a statement acquires for the rest of its block.
    fn permit_of(&mut self, statement: &Statement) -> Option<u16> {
        let StatementKind::Binding(binding) = &statement.kind else {
            return None;
        };
        let (ExpressionKind::Call(call), PatternKind::Name(name)) =
            (&binding.value.kind, &binding.pattern.kind)
        else {
            return None;
        };
        if !acquires(&call.name.text) {
            return None;
        }
        match self.target(name) {
            Target::Register(register) => Some(register),
            _ => None,
        }
    }

    /// The file ends here: the permits that it holds are read once more.
    pub(super) fn keep_permit(&mut self, statement: &Statement) {
        if let Some(permit) = self.permit_of(statement) {
            let mark = self.mark();
            let last = self.temporary();
            self.copy(statement.span.start, last, permit);
            self.release(mark);
        }
    }

    /// The block ends here that counts on permits.
    pub(super) fn let_go_of_all(&mut self, held: Vec<Guard>) {
        for Guard { at, permit, error } in held.into_iter().rev() {
            let Some(guarded) = self.end_guard() else {
                return;
            };
            self.let_go(at, permit);
            let end = self.jump(at, Op::Jump, 0);
            self.handle(&guarded);
            self.let_go(at, permit);
            self.op(at, Op::Rethrow, error, 0, 0);
            self.land(end);
        }
    }

    /// Empties the register of a permit. That it is read makes this its last use.
    pub(super) fn let_go(&mut self, at: u32, permit: u16) {
        let mark = self.mark();
        let last = self.temporary();
        self.copy(at, last, permit);
        self.load_nil(at, last);
        self.load_nil(at, permit);
        self.release(mark);
    }
}

fn acquires(name: &str) -> bool {
    name.starts_with("sync_") && name.ends_with("_acquire")
}
