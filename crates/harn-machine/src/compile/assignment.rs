//! Assignments.
//!
//! A variable keeps its value until the new one is complete: `x = y ?? x` reads it late, and
//! if an expression fails, whoever catches the error sees the old value.

use harn_syntax::tree::{
    Assignment, BinaryOp, Expression, ExpressionKind, Name, Postfix, SuffixKind,
};

use super::exits::GuardKind;
use super::growth::{Growth, is_collection};
use super::name::Spot;
use super::operator::plain;
use super::search::may_assign;
use super::unit::Compiler;
use crate::code::{Op, PathStep, Raised};

/// What an assignment changes.
#[derive(Clone, Copy)]
pub(super) enum Root {
    Register(u16),
    Global(u32),
    /// Nothing: what the path begins with is no variable.
    Lost(u16),
}

/// A step of the path to what is assigned.
pub(super) enum Step<'e> {
    Field(&'e str),
    /// With the register of the index.
    Index(u16),
}

impl Compiler<'_> {
    /// `target = value` or `target += value`
    pub(super) fn assignment(&mut self, at: u32, assignment: &Assignment) {
        let mark = self.mark();
        match &assignment.target.kind {
            ExpressionKind::Name(name) => match self.root(name) {
                Some(root) => self.assign_variable(at, root, assignment),
                None => {
                    self.effect(&assignment.value);
                    self.raise_unassignable(name);
                }
            },
            ExpressionKind::Postfix(postfix) => self.assign_path(at, postfix, assignment),
            _ => self.effect(&assignment.value),
        }
        self.release(mark);
    }

    /// The variable that a name leads to, if it may be assigned.
    fn root(&mut self, name: &Name) -> Option<Root> {
        let resolved = self.resolved;
        let used = resolved.use_of(name).filter(|used| !used.immutable)?;
        match self.find(*used.places.first()?)?.spot {
            Spot::Register(register) => Some(Root::Register(register)),
            Spot::Global(global) => Some(Root::Global(global)),
            _ => None,
        }
    }

    fn raise_unassignable(&mut self, name: &Name) {
        let used = self.resolved.use_of(name);
        let is_bound = used.is_some_and(|used| !used.places.is_empty());
        let text = match is_bound {
            true => format!("Cannot assign to immutable binding: {}", name.text),
            false => format!("Undefined variable: {}", name.text),
        };
        self.raise(name.span.start, Raised::Own, &text);
    }

    fn assign_variable(&mut self, at: u32, root: Root, assignment: &Assignment) {
        let value = &assignment.value;
        match (root, assignment.op) {
            (Root::Register(register), None)
                if self.is_guarded()
                    && let Some(item) = pushed_to(&assignment.target, value) =>
            {
                self.push_in_place(at, register, item);
            }
            (Root::Register(register), None) if writes_last(value) => {
                self.evaluate(value, register);
            }
            (Root::Register(register), None) => {
                let new = self.temporary();
                self.evaluate(value, new);
                self.copy(at, register, new);
            }
            (Root::Register(register), Some(op)) => {
                let left = self.kept(at, register, value);
                self.combine(at, op, register, left, value);
            }
            (Root::Global(global), None) => {
                let new = self.operand(value);
                self.wide(at, Op::SetGlobal, new, global);
            }
            (Root::Global(global), Some(op)) => {
                let new = self.temporary();
                self.wide(at, Op::GetGlobal, new, global);
                self.combine(at, op, new, new, value);
                self.wide(at, Op::SetGlobal, new, global);
            }
            (Root::Lost(_), _) => {}
        }
    }

    /// A variable, or a copy of it if what is evaluated next may change it.
    fn kept(&mut self, at: u32, register: u16, next: &Expression) -> u16 {
        match may_assign(next) {
            true => {
                let kept = self.temporary();
                self.copy(at, kept, register);
                kept
            }
            false => register,
        }
    }

    /// `a.b[0].c = value`
    fn assign_path(&mut self, at: u32, postfix: &Postfix, assignment: &Assignment) {
        let is_step = |suffix: &harn_syntax::tree::Suffix| {
            matches!(
                suffix.kind,
                SuffixKind::Member { .. } | SuffixKind::Index { .. }
            )
        };
        // What comes before a call cannot be changed through it.
        let computed = postfix.suffixes.iter().rposition(|suffix| !is_step(suffix));
        let root = match (&postfix.base.kind, computed) {
            (ExpressionKind::Name(name), None) => match self.root(name) {
                Some(root) => root,
                None => {
                    self.effect(&assignment.value);
                    return self.raise_unassignable(name);
                }
            },
            (_, None) => Root::Lost(self.operand(&postfix.base)),
            (_, Some(last)) => {
                let part = Postfix {
                    base: postfix.base.clone(),
                    suffixes: postfix.suffixes[..=last].to_vec(),
                };
                let register = self.temporary();
                self.postfix(at, &part, register);
                Root::Lost(register)
            }
        };
        let first = computed.map_or(0, |last| last + 1);
        let steps = self.steps(root, &postfix.suffixes[first..], &assignment.value);
        let value = &assignment.value;
        let growth = match (root, assignment.op) {
            (_, Some(BinaryOp::Add)) if is_collection(value) => Some(Growth::Sum(value)),
            (Root::Register(_) | Root::Global(_), None) => Growth::of(postfix, value),
            _ => None,
        };
        if let Some(growth) = growth {
            return self.grow(at, root, &steps, &growth);
        }
        let value = self.new_value(at, root, &steps, assignment);
        self.set(at, root, &steps, value);
    }

    fn steps<'e>(
        &mut self,
        root: Root,
        suffixes: &'e [harn_syntax::tree::Suffix],
        value: &Expression,
    ) -> Vec<Step<'e>> {
        let mut steps = Vec::new();
        for (position, suffix) in suffixes.iter().enumerate() {
            match &suffix.kind {
                SuffixKind::Member { name, .. } => steps.push(Step::Field(&name.text)),
                SuffixKind::Index { index, .. } => {
                    let behind = suffixes[position + 1..].iter();
                    let behind = behind.filter_map(|suffix| match &suffix.kind {
                        SuffixKind::Index { index, .. } => Some(index),
                        _ => None,
                    });
                    let later: Vec<&Expression> = behind.chain([value]).collect();
                    let mut register = self.operand_before(index, &later);
                    // What is changed is not at hand while it changes.
                    if matches!(root, Root::Register(root) if root == register) {
                        register = self.temporary();
                        self.evaluate(index, register);
                    }
                    steps.push(Step::Index(register));
                }
                _ => {}
            }
        }
        steps
    }

    /// Evaluates what is assigned; with an operator, what is there is read first.
    fn new_value(
        &mut self,
        at: u32,
        root: Root,
        steps: &[Step<'_>],
        assignment: &Assignment,
    ) -> u16 {
        let Some(op) = assignment.op else {
            return self.operand(&assignment.value);
        };
        let old = self.old_value(at, root, steps);
        self.combine(at, op, old, old, &assignment.value);
        old
    }

    /// What is there before it is changed.
    pub(super) fn old_value(&mut self, at: u32, root: Root, steps: &[Step<'_>]) -> u16 {
        let old = self.temporary();
        let mut from = match root {
            Root::Register(register) | Root::Lost(register) => register,
            Root::Global(global) => {
                self.wide(at, Op::GetGlobal, old, global);
                old
            }
        };
        for step in steps {
            match step {
                Step::Field(name) => {
                    let site = self.site(name);
                    self.op(at, Op::GetField, old, from, site);
                }
                Step::Index(index) => self.op(at, Op::GetIndex, old, from, *index),
            }
            from = old;
        }
        old
    }

    pub(super) fn set(&mut self, at: u32, root: Root, steps: &[Step<'_>], value: u16) {
        match root {
            Root::Register(register) | Root::Lost(register) => {
                self.set_in(at, register, steps, value);
            }
            Root::Global(global) => self.set_in_global(at, global, steps, value),
        }
    }

    /// While it is changed, the value is not in the global: it can only be changed in place
    /// if nobody else has it. If that fails, it is put back.
    fn set_in_global(&mut self, at: u32, global: u32, steps: &[Step<'_>], value: u16) {
        let register = self.temporary();
        let nil = self.temporary();
        let error = self.temporary();
        self.wide(at, Op::GetGlobal, register, global);
        self.load_nil(at, nil);
        self.wide(at, Op::SetGlobal, nil, global);
        self.guard(error, GuardKind::Catch);
        self.set_in(at, register, steps, value);
        self.wide(at, Op::SetGlobal, register, global);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        let end = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.wide(at, Op::SetGlobal, register, global);
        self.op(at, Op::Rethrow, error, 0, 0);
        self.land(end);
    }

    fn set_in(&mut self, at: u32, root: u16, steps: &[Step<'_>], value: u16) {
        match steps {
            [] => {}
            [Step::Field(name)] => {
                let site = self.site(name);
                self.op(at, Op::SetField, root, site, value);
            }
            [Step::Index(index)] => self.op(at, Op::SetIndex, root, *index, value),
            _ => {
                let path = steps.iter().map(|step| match step {
                    Step::Field(name) => PathStep::Field(self.interner.text(name)),
                    Step::Index(register) => PathStep::Index(*register),
                });
                let path = path.collect();
                self.body.paths.push(path);
                let path = self.narrow(self.body.paths.len() - 1);
                self.op(at, Op::SetPath, root, path, value);
            }
        }
    }

    /// a = b op c, or b op a small int.
    fn combine(&mut self, at: u32, op: BinaryOp, d: u16, left: u16, value: &Expression) {
        match self.with_small_int(op, value) {
            Some((op, number)) => self.op(at, op, d, left, number),
            None => {
                let right = self.operand(value);
                self.op(at, plain(op), d, left, right);
            }
        }
    }
}

/// The item of `name = name.push(item)`.
fn pushed_to<'e>(target: &Expression, value: &'e Expression) -> Option<&'e Expression> {
    match &target.kind {
        ExpressionKind::Name(name) => Growth::item_of(&name.text, value),
        _ => None,
    }
}

/// Whether the value of an expression is written by the last instruction of its code, so that
/// a variable can be assigned in place.
fn writes_last(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Nil
        | ExpressionKind::Bool(_)
        | ExpressionKind::Int(_)
        | ExpressionKind::Float(_)
        | ExpressionKind::Duration(_)
        | ExpressionKind::String(_)
        | ExpressionKind::RawString(_)
        | ExpressionKind::Interpolated(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::List(_)
        | ExpressionKind::Dict(_)
        | ExpressionKind::Struct(_)
        | ExpressionKind::Closure(_)
        | ExpressionKind::Call(_)
        | ExpressionKind::Postfix(_)
        | ExpressionKind::Unary(..)
        | ExpressionKind::Range(_) => true,
        ExpressionKind::Binary(binary) => {
            !matches!(binary.rest[0].op, BinaryOp::Coalesce | BinaryOp::Pipe)
        }
        ExpressionKind::Ternary(_)
        | ExpressionKind::If(_)
        | ExpressionKind::Match(_)
        | ExpressionKind::Try(_)
        | ExpressionKind::TryStar(_)
        | ExpressionKind::Retry(_)
        | ExpressionKind::Parallel(_)
        | ExpressionKind::Spawn(_)
        | ExpressionKind::Deadline(_) => false,
    }
}
