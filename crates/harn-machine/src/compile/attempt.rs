//! What may fail: `try`, `retry`, `deadline`, `mutex`.

use harn_syntax::tree::{Block, Catch, Deadline, Retry, Try, TypeKind};

use super::exits::{COMPLETED, Exit, FAILED, Finally, GuardKind};
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// `try { … } catch (e: T) { … } finally { … }`
    pub(super) fn try_blocks(&mut self, at: u32, item: &Try, d: Option<u16>) {
        match (&item.catch, &item.finally) {
            (None, None) => self.try_result(at, &item.body, d),
            (Some(catch), None) => self.try_catch(at, &item.body, catch, d),
            (None, Some(finally)) => {
                self.with_finally(at, finally, |compiler| compiler.block(&item.body, d));
            }
            (Some(catch), Some(finally)) => self.with_finally(at, finally, |compiler| {
                compiler.try_catch(at, &item.body, catch, d);
            }),
        }
    }

    fn try_catch(&mut self, at: u32, body: &Block, catch: &Catch, d: Option<u16>) {
        let error = self.temporary();
        self.guard(error, GuardKind::Catch);
        self.block(body, d);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        let end = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        let visible = self.visible.len();
        let other = match catch.ty.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Named(name, arguments)) if arguments.is_empty() => {
                let name = self.text_constant(&name.text);
                Some(self.branch(at, Op::JumpUnlessCaught, error, name))
            }
            _ => None,
        };
        if let Some(name) = &catch.name {
            self.bind(name, |compiler, d| {
                compiler.op(name.span.start, Op::CatchValue, d, error, 0);
            });
        }
        self.block(&catch.body, d);
        self.visible.truncate(visible);
        if let Some(other) = other {
            let caught = self.jump(at, Op::Jump, 0);
            self.land(other);
            self.op(at, Op::Rethrow, error, 0, 0);
            self.land(caught);
        }
        self.land(end);
    }

    /// `try { … }` alone: a `Result`.
    fn try_result(&mut self, at: u32, body: &Block, d: Option<u16>) {
        let value = match d {
            Some(d) => self.intermediate(d),
            None => self.temporary(),
        };
        let error = self.temporary();
        self.guard(error, GuardKind::Catch);
        self.block(body, Some(value));
        let Some(guarded) = self.end_guard() else {
            return;
        };
        let (ok, err) = (
            self.tag_constant("Result", "Ok"),
            self.tag_constant("Result", "Err"),
        );
        let no_ok = self.branch(at, Op::JumpUnlessTag, value, ok);
        let is_ok = self.jump(at, Op::Jump, 0);
        self.land(no_ok);
        let no_result = self.branch(at, Op::JumpUnlessTag, value, err);
        let is_err = self.jump(at, Op::Jump, 0);
        self.land(no_result);
        self.op_n(at, Op::NewEnum, 1, value, ok, value);
        let wrapped = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.op(at, Op::CatchValue, value, error, 0);
        self.op_n(at, Op::NewEnum, 1, value, err, value);
        self.land_all(vec![is_ok, is_err, wrapped]);
        if let Some(d) = d {
            self.copy(at, d, value);
        }
    }

    /// Code that is followed by a block in any case.
    fn with_finally(&mut self, at: u32, finally: &Block, code: impl FnOnce(&mut Self)) {
        let kind = self.temporary();
        let value = self.temporary();
        self.guard(value, finally_guard(kind));
        code(self);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        self.load_int(at, kind, COMPLETED);
        let completed = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.load_int(at, kind, FAILED);
        self.land(completed);
        let GuardKind::Finally(Finally { exits, jumps, .. }) = guarded.kind else {
            return;
        };
        self.land_all(jumps);
        self.block(finally, None);
        let done = self.branch(at, Op::JumpEqualInt, kind, 0);
        self.go_on(at, kind, value, &exits);
        self.land(done);
    }

    /// After a block that runs in any case: leaves the rest the same way.
    pub(super) fn go_on(&mut self, at: u32, kind: u16, value: u16, exits: &[Exit]) {
        for exit in exits {
            let next = self.branch(at, Op::JumpNotEqualInt, kind, exit.number());
            self.leave(at, *exit, (*exit == Exit::Return).then_some(value));
            self.land(next);
        }
        self.op(at, Op::Rethrow, value, 0, 0);
    }

    /// `retry count { … }`
    pub(super) fn retry(&mut self, at: u32, item: &Retry, d: Option<u16>) {
        let count = self.temporary();
        let attempt = self.temporary();
        let error = self.temporary();
        self.evaluate(&item.count, count);
        self.load_int(at, attempt, 0);
        let start = self.here();
        let before = self.begin_round();
        self.guard(error, GuardKind::Catch);
        self.block(&item.body, d);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        let end = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.end_round(at, &before);
        self.op(at, Op::AddInt, attempt, attempt, 1);
        let again = self.branch(at, Op::JumpLess, attempt, count);
        self.aim(again, start);
        self.op(at, Op::Rethrow, error, 0, 0);
        self.land(end);
    }

    /// `deadline time { … }`
    pub(super) fn deadline(&mut self, at: u32, item: &Deadline, d: Option<u16>) {
        let time = self.operand(&item.time);
        let error = self.temporary();
        self.op(at, Op::DeadlinePush, time, 0, 0);
        self.guard(error, GuardKind::Deadline);
        self.block(&item.body, d);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        self.op(at, Op::DeadlinePop, 0, 0, 0);
        let end = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.op(at, Op::DeadlinePop, 0, 0, 0);
        self.op(at, Op::Rethrow, error, 0, 0);
        self.land(end);
    }

    /// `mutex { … }`
    pub(super) fn mutex(&mut self, at: u32, body: &Block) {
        let error = self.temporary();
        let permit = self.temporary();
        let acquire = self.known_builtin("sync_mutex_acquire");
        self.op_n(at, Op::CallBuiltin, 0, permit, permit, acquire);
        self.guard(error, GuardKind::Mutex(permit));
        self.block(body, None);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        self.give_back(at, permit);
        let end = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.give_back(at, permit);
        self.op(at, Op::Rethrow, error, 0, 0);
        self.land(end);
    }
}

/// A guard of code that is followed by a block in any case.
pub(super) fn finally_guard(kind: u16) -> GuardKind {
    GuardKind::Finally(Finally {
        kind,
        exits: Vec::new(),
        jumps: Vec::new(),
    })
}
