//! Collections that grow where they are.
//!
//! ```text
//! a.b += [value]
//! a.b = a.b + [value]
//! a.b = a.b.push(value)
//! a.b = (a.b ?? []).push(value)
//! ```
//!
//! All of these read a part and set it to something longer. Only a value that nobody else has
//! can grow where it is, so the part is out of its place meanwhile. What would be copied
//! otherwise is everything that is in it, at every step of a loop.

use harn_syntax::tree::{Argument, BinaryOp, Expression, ExpressionKind, Postfix, SuffixKind};

use super::assignment::{Root, Step};
use super::exits::GuardKind;
use super::search::may_assign;
use super::unit::Compiler;
use crate::code::Op;

/// What something assigned grows by.
pub(super) enum Growth<'e> {
    /// A collection.
    Sum(&'e Expression),
    /// An item at the end, if it is a list.
    Push {
        /// What it is if there is nothing.
        default: Option<&'e Expression>,
        item: &'e Expression,
    },
}

impl<'e> Growth<'e> {
    /// How the value of `target = value` is the target with more in it, if it is.
    pub(super) fn of(target: &Postfix, value: &'e Expression) -> Option<Self> {
        match &value.kind {
            ExpressionKind::Binary(sum) => match sum.rest.as_slice() {
                [more]
                    if more.op == BinaryOp::Add
                        && is_collection(&more.value)
                        && is_part(&sum.first, target) =>
                {
                    Some(Self::Sum(&more.value))
                }
                _ => None,
            },
            ExpressionKind::Postfix(push) => {
                let item = pushed(push)?;
                let default = match before_last(push) {
                    Before::Part(part) if part == as_part(target)? => None,
                    Before::Value(value) => Some(default_of(value, target)?),
                    Before::Part(_) | Before::Other => return None,
                };
                Some(Self::Push { default, item })
            }
            _ => None,
        }
    }

    /// The item that `name = name.push(item)` adds.
    pub(super) fn item_of<'v>(name: &str, value: &'v Expression) -> Option<&'v Expression> {
        let ExpressionKind::Postfix(push) = &value.kind else {
            return None;
        };
        let is_it = matches!(&push.base.kind, ExpressionKind::Name(base) if base.text == name);
        let item = pushed(push).filter(|_| is_it && push.suffixes.len() == 1)?;
        (!may_assign(item)).then_some(item)
    }
}

/// What comes before the last suffix.
enum Before<'e> {
    /// A part of a variable.
    Part(Part<'e>),
    /// A value without suffixes.
    Value(&'e Expression),
    Other,
}

/// A part of a variable: its name, and how to get there.
type Part<'e> = (&'e str, Vec<Key<'e>>);

/// A step of which one can tell that another is the same.
#[derive(PartialEq)]
enum Key<'e> {
    Field(&'e str),
    Variable(&'e str),
    Text(&'e str),
    Int(i64),
}

fn before_last(postfix: &Postfix) -> Before<'_> {
    let count = postfix.suffixes.len() - 1;
    match count {
        0 => Before::Value(&postfix.base),
        _ => part(postfix, count).map_or(Before::Other, Before::Part),
    }
}

fn as_part(postfix: &Postfix) -> Option<Part<'_>> {
    part(postfix, postfix.suffixes.len())
}

/// The part that the first so many suffixes lead to.
fn part(postfix: &Postfix, count: usize) -> Option<Part<'_>> {
    let ExpressionKind::Name(base) = &postfix.base.kind else {
        return None;
    };
    let keys = postfix.suffixes[..count]
        .iter()
        .map(|suffix| match &suffix.kind {
            SuffixKind::Member {
                name,
                optional: false,
            } => Some(Key::Field(name.text.as_str())),
            SuffixKind::Index {
                index,
                optional: false,
            } => match &index.kind {
                ExpressionKind::Name(name) => Some(Key::Variable(name.text.as_str())),
                ExpressionKind::String(text) | ExpressionKind::RawString(text) => {
                    Some(Key::Text(text.as_str()))
                }
                ExpressionKind::Int(number) => Some(Key::Int(*number)),
                _ => None,
            },
            _ => None,
        });
    Some((base.text.as_str(), keys.collect::<Option<_>>()?))
}

fn is_part(expression: &Expression, target: &Postfix) -> bool {
    match &expression.kind {
        ExpressionKind::Postfix(postfix) => {
            as_part(postfix).is_some_and(|part| Some(part) == as_part(target))
        }
        _ => false,
    }
}

/// The list in `target ?? [a]`.
fn default_of<'e>(value: &'e Expression, target: &Postfix) -> Option<&'e Expression> {
    let ExpressionKind::Binary(either) = &value.kind else {
        return None;
    };
    let [default] = either.rest.as_slice() else {
        return None;
    };
    let is_list = matches!(default.value.kind, ExpressionKind::List(_));
    let is_default = default.op == BinaryOp::Coalesce && is_list && is_part(&either.first, target);
    is_default.then_some(&default.value)
}

/// The item, if the last suffix is `.push(item)`.
fn pushed(postfix: &Postfix) -> Option<&Expression> {
    match &postfix.suffixes.last()?.kind {
        SuffixKind::Method {
            name,
            optional: false,
            arguments,
        } if name.text == "push" => match arguments.as_slice() {
            [Argument::One(item)] => Some(item),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an expression gives something that collections grow by.
pub(super) fn is_collection(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        ExpressionKind::List(_)
            | ExpressionKind::Dict(_)
            | ExpressionKind::String(_)
            | ExpressionKind::RawString(_)
            | ExpressionKind::Interpolated(_)
    )
}

impl Compiler<'_> {
    /// Lets the part of a variable grow.
    pub(super) fn grow(&mut self, at: u32, root: Root, steps: &[Step<'_>], growth: &Growth<'_>) {
        let old = self.old_value(at, root, steps);
        match growth {
            Growth::Sum(more) => {
                let more = self.operand(more);
                self.grow_by(at, root, steps, old, more);
            }
            Growth::Push { default, item } => {
                if let Some(default) = default {
                    let is_there = self.jump(at, Op::JumpUnlessNil, old);
                    self.evaluate(default, old);
                    self.land(is_there);
                }
                let item = self.fresh(item);
                let other = self.branch(at, Op::JumpUnlessList, old, 0);
                self.op(at, Op::NewList, item, item, 1);
                self.grow_by(at, root, steps, old, item);
                let end = self.jump(at, Op::Jump, 0);
                self.land(other);
                self.push_to(at, old, item);
                self.set(at, root, steps, old);
                self.land(end);
            }
        }
    }

    /// `name = name.push(item)` where errors are caught: the variable is still read then, so
    /// the list could not be given to the method.
    pub(super) fn push_in_place(&mut self, at: u32, list: u16, item: &Expression) {
        let item = self.fresh(item);
        let other = self.branch(at, Op::JumpUnlessList, list, 0);
        self.op(at, Op::NewList, item, item, 1);
        self.op(at, Op::Add, list, list, item);
        let end = self.jump(at, Op::Jump, 0);
        self.land(other);
        self.push_to(at, list, item);
        self.land(end);
    }

    /// A value in a register of its own.
    fn fresh(&mut self, value: &Expression) -> u16 {
        let register = self.temporary();
        self.evaluate(value, register);
        register
    }

    /// `value = value.push(item)` for whatever the value is.
    fn push_to(&mut self, at: u32, value: u16, item: u16) {
        let mark = self.mark();
        let window = self.window(2);
        self.copy(at, window, value);
        self.copy(at, window.saturating_add(1), item);
        let site = self.site("push");
        self.op_n(at, Op::CallMethod, 1, value, window, site);
        self.release(mark);
    }

    /// While it grows, the value is not in its place. If that fails, it is put back.
    fn grow_by(&mut self, at: u32, root: Root, steps: &[Step<'_>], old: u16, more: u16) {
        let mark = self.mark();
        let nil = self.temporary();
        let error = self.temporary();
        self.load_nil(at, nil);
        // What is not there must not be there after a failure either.
        let absent = self.branch(at, Op::JumpEqual, old, nil);
        self.guard(error, GuardKind::Catch);
        self.set(at, root, steps, nil);
        if let Some(guarded) = self.end_guard() {
            let end = self.jump(at, Op::Jump, 0);
            self.handle(&guarded);
            // It would have been added before it could not be set.
            self.op(at, Op::Add, nil, old, more);
            self.op(at, Op::Rethrow, error, 0, 0);
            self.land(end);
        }
        self.land(absent);
        self.guard(error, GuardKind::Catch);
        self.op(at, Op::Add, old, old, more);
        if let Some(guarded) = self.end_guard() {
            let end = self.jump(at, Op::Jump, 0);
            self.handle(&guarded);
            let absent = self.branch(at, Op::JumpEqual, old, nil);
            self.set(at, root, steps, old);
            self.land(absent);
            self.op(at, Op::Rethrow, error, 0, 0);
            self.land(end);
        }
        self.set(at, root, steps, old);
        self.release(mark);
    }
}
