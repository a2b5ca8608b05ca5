//! Blocks and statements.

use std::rc::Rc;

use harn_check::resolve::{Declared, Place};
use harn_syntax::tree::BinaryOp;
use harn_syntax::tree::{
    Block, Expression, ExpressionKind, Guard, If, ItemKind, Require, Statement, StatementKind,
};

use super::body::{Announced, DeferredBlock};
use super::exits::Exit;
use super::permits::Guard as PermitGuard;
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// A block in a scope of its own. Its value goes to `d`, if anybody wants it.
    pub(super) fn block(&mut self, block: &Block, d: Option<u16>) {
        let scope = self.open(&block.statements, block.span.start);
        self.statements(block, d);
        self.close(scope);
    }

    /// The statements of a block whose scope is open.
    fn statements(&mut self, block: &Block, d: Option<u16>) {
        let Some((last, before)) = block.statements.split_last() else {
            if let Some(d) = d {
                self.load_nil(block.span.start, d);
            }
            return;
        };
        let held = self.statements_before(before);
        match d {
            Some(d) => self.last_statement(last, d),
            None => self.statement(last),
        }
        let more = self.hold_permit(last);
        self.let_go_of_all(held.into_iter().chain(more).collect());
    }

    /// The statements before the last one of a block, with the permits they acquire.
    pub(super) fn statements_before(&mut self, statements: &[Statement]) -> Vec<PermitGuard> {
        let mut held = Vec::new();
        for statement in statements {
            self.statement(statement);
            held.extend(self.hold_permit(statement));
        }
        held
    }

    /// Opens a scope: functions are known from its beginning.
    pub(super) fn open(&mut self, statements: &[Statement], start: u32) -> Scope {
        Scope {
            visible: self.visible.len(),
            functions: self.announce(statements, start),
        }
    }

    pub(super) fn close(&mut self, scope: Scope) {
        self.visible.truncate(scope.visible);
        for slot in scope.functions {
            self.body.announced.remove(&slot);
        }
    }

    /// Prepares the slots of the functions of a block, and gives them.
    fn announce(&mut self, statements: &[Statement], start: u32) -> Vec<u32> {
        let mut slots = Vec::new();
        let mut only_functions = true;
        for statement in statements {
            let StatementKind::Item(item) = &statement.kind else {
                only_functions = false;
                continue;
            };
            let ItemKind::Function(function) = &item.kind else {
                only_functions = false;
                continue;
            };
            let name = &function.name;
            if let Declared::In(Place::Local(slot)) = self.declared_name(name) {
                let register = self.slot(slot);
                let at = name.span.start;
                let is_cell = self.is_captured_early(slot, start, at);
                if is_cell {
                    self.op(at, Op::MakeLate, register, 0, 0);
                } else if !only_functions {
                    self.op(at, Op::LoadAbsent, register, 0, 0);
                }
                let announced = Announced {
                    is_cell,
                    is_passed: false,
                };
                self.body.announced.insert(slot, announced);
                slots.push(slot);
            }
        }
        slots
    }

    /// A statement for what it does.
    pub(super) fn statement(&mut self, statement: &Statement) {
        let at = statement.span.start;
        let mark = self.mark();
        if !matches!(statement.kind, StatementKind::Item(_)) {
            self.cover(at);
        }
        match &statement.kind {
            StatementKind::Expression(value) => self.effect(value),
            StatementKind::Item(item) => self.item(item),
            StatementKind::Binding(binding) => self.binding(binding),
            StatementKind::Assignment(assignment) => self.assignment(at, assignment),
            StatementKind::For(item) => self.for_loop(at, item),
            StatementKind::While(item) => self.while_loop(at, item),
            StatementKind::Select(select) => self.select(at, select, None),
            StatementKind::Guard(guard) => self.guard_statement(guard),
            StatementKind::Require(require) => self.require(at, require),
            StatementKind::Mutex(block) => self.mutex(at, block),
            StatementKind::Defer(block) => self.defer(at, block),
            StatementKind::Return(value) => self.return_statement(at, value.as_ref()),
            StatementKind::Throw(value) => {
                let value = self.operand(value);
                self.op(at, Op::Throw, value, 0, 0);
            }
            StatementKind::Yield(value) => self.yield_statement(at, value.as_ref()),
            StatementKind::Emit(value) => self.yield_statement(at, Some(value)),
            StatementKind::Break => self.leave(at, Exit::Break, None),
            StatementKind::Continue => self.leave(at, Exit::Continue, None),
        }
        self.release(mark);
    }

    /// The last statement of a block whose value is wanted.
    pub(super) fn last_statement(&mut self, statement: &Statement, d: u16) {
        match &statement.kind {
            StatementKind::Expression(value) => {
                self.cover(statement.span.start);
                self.evaluate(value, d);
            }
            StatementKind::Select(select) => {
                self.cover(statement.span.start);
                let mark = self.mark();
                self.select(statement.span.start, select, Some(d));
                self.release(mark);
            }
            _ => {
                self.statement(statement);
                if !never_ends(statement) {
                    self.load_nil(statement.span.start, d);
                }
            }
        }
    }

    /// `if a { … } else if b { … } else { … }`
    pub(super) fn if_blocks(&mut self, item: &If, d: Option<u16>) {
        let mut ends = Vec::new();
        let last = item.branches.len().saturating_sub(1);
        let has_more = item.otherwise.is_some() || d.is_some();
        for (position, (condition, block)) in item.branches.iter().enumerate() {
            let next = self.condition(condition, false);
            self.block(block, d);
            if (position < last || has_more) && !block.statements.last().is_some_and(never_ends) {
                ends.push(self.jump(block.span.start, Op::Jump, 0));
            }
            self.land_all(next);
        }
        match (&item.otherwise, d) {
            (Some(block), _) => self.block(block, d),
            (None, Some(d)) => {
                let at = item.branches.last().map_or(0, |(one, _)| one.span.start);
                self.load_nil(at, d);
            }
            (None, None) => {}
        }
        self.land_all(ends);
    }

    fn guard_statement(&mut self, guard: &Guard) {
        let holds = self.condition(&guard.condition, true);
        self.block(&guard.otherwise, None);
        self.land_all(holds);
    }

    fn require(&mut self, at: u32, require: &Require) {
        let holds = self.condition(&require.condition, true);
        let value = match &require.message {
            Some(message) => self.operand(message),
            None => {
                let value = self.temporary();
                self.load_text(at, value, "require condition failed");
                value
            }
        };
        self.op(at, Op::Throw, value, 0, 0);
        self.land_all(holds);
    }

    fn yield_statement(&mut self, at: u32, value: Option<&Expression>) {
        let value = match value {
            Some(value) => self.operand(value),
            None => {
                let nil = self.temporary();
                self.load_nil(at, nil);
                nil
            }
        };
        if self.body.pauses {
            self.op(at, Op::Yield, value, 0, 0);
        }
    }

    /// Whether the frame can be given up for a call: nothing is left to be done in it, and
    /// nobody waits for it in particular, as who asks a generator for values does.
    fn can_give_up(&self) -> bool {
        !self.is_guarded() && !self.body.gives_nothing && !self.body.pauses
    }

    fn return_statement(&mut self, at: u32, value: Option<&Expression>) {
        let Some(value) = value else {
            return self.leave(at, Exit::Return, None);
        };
        let start = value.span.start;
        match &value.kind {
            ExpressionKind::Call(call) if self.can_give_up() => self.tail_call(start, call),
            ExpressionKind::Binary(binary)
                if binary.rest[0].op == BinaryOp::Pipe && self.can_give_up() =>
            {
                self.tail_pipe(start, binary);
            }
            _ => {
                let value = self.operand(value);
                self.leave(at, Exit::Return, Some(value));
            }
        }
    }

    /// `defer { … }`: from here on the block runs at the end.
    fn defer(&mut self, at: u32, block: &Block) {
        let Some(deferred) = &mut self.body.deferred else {
            return;
        };
        deferred.blocks.push(DeferredBlock {
            block: Rc::new(block.clone()),
            is_in_loop: self.body.loops > 0,
        });
        let (list, number) = (deferred.list, deferred.blocks.len() - 1);
        let number = self.small(number);
        self.op(at, Op::DeferPush, list, number, 0);
    }
}

/// A scope that is open.
pub(super) struct Scope {
    visible: usize,
    functions: Vec<u32>,
}

/// Whether control never goes on after a statement.
pub(super) fn never_ends(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Return(_)
            | StatementKind::Throw(_)
            | StatementKind::Break
            | StatementKind::Continue
    )
}
