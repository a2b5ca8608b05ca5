//! Where parentheses are needed.
//!
//! The tree has none, so they are put back from the levels of the operators, and from the
//! places where the grammar would otherwise read something else: `c ? [1] : x` subscripts
//! `c?`, and `if r? { … }` takes the block for a dict.

use crate::tree::{
    Binary, BinaryOp, ClosureStyle, Expression, ExpressionKind, Postfix, SuffixKind, Type, TypeKind,
};
use crate::visit::{Visit, walk_expression};

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// Where any expression can stand.
    Nothing,
    /// The first operand of an operator, which comes after it.
    First(BinaryOp),
    /// The right operand of an operator, and the operator after it.
    Next(BinaryOp, Option<BinaryOp>),
    /// After `!`, `-` and `try*`.
    Prefix,
    /// Before a member, an index or a question mark.
    Base,
    /// At either end of a range.
    RangeEnd,
    /// Before the `?` of a ternary, or after its `:`.
    TernaryEnd,
    /// Between `?` and `:`.
    TernaryMiddle,
    /// In a dict, although there is an arrow in it.
    Dict,
    /// Before the brace of a block.
    Header,
    /// Between `guard` and its `else`.
    Guard,
    /// Between `while` and its block.
    While,
    /// After `retry` and `deadline`.
    Primary,
    /// After `parallel`.
    ParallelCount,
    /// After `parallel each` and `parallel settle`.
    ParallelSource,
}

/// The level of what can be followed by a member.
const POSTFIX: u8 = 13;
const PRIMARY: u8 = 14;

/// How tightly an expression holds together: the level of the specification's table.
fn level(expression: &Expression) -> u8 {
    match &expression.kind {
        ExpressionKind::Binary(binary) => binary.rest[0].op.level(),
        ExpressionKind::Range(_) => 2,
        ExpressionKind::Ternary(_) => 3,
        ExpressionKind::Unary(..) | ExpressionKind::TryStar(_) => 12,
        ExpressionKind::Postfix(_) | ExpressionKind::Call(_) | ExpressionKind::Struct(_) => POSTFIX,
        _ => PRIMARY,
    }
}

/// Whether an expression needs parentheses where it stands.
pub(super) fn needs_parentheses(expression: &Expression, around: Around) -> bool {
    let level = level(expression);
    match around {
        Around::Nothing => false,
        Around::First(op) => {
            let is_left_of_power = op == BinaryOp::Power && level == op.level();
            let is_lower = level < op.level() || is_left_of_power;
            is_lower || is_mixed(expression, op) || is_cut_short(expression, Some(op))
        }
        Around::Next(BinaryOp::Power, _) => level < BinaryOp::Power.level(),
        Around::Next(op, next) => {
            let is_lower = level <= op.level() || is_mixed(expression, op);
            is_lower || is_cut_short(expression, next)
        }
        Around::Prefix => level < 12,
        Around::Base => level < POSTFIX,
        Around::RangeEnd => level < 3,
        Around::TernaryEnd => level < 4,
        Around::TernaryMiddle => level < 4 || !may_follow_question_mark(expression),
        Around::Dict => true,
        Around::Header => ends_in_question_mark(expression),
        Around::Guard => ends_in_open_if(expression),
        Around::While => ends_in_question_mark(expression) || begins_with(expression, Start::Round),
        Around::Primary => level < PRIMARY,
        Around::ParallelCount => {
            ends_in_question_mark(expression) || begins_with(expression, Start::Mode)
        }
        Around::ParallelSource => {
            ends_in_question_mark(expression) || begins_with(expression, Start::Brace)
        }
    }
}

/// Whether an operand needs parentheses because of the operator after it: `a? - b` would be
/// a ternary.
fn is_cut_short(operand: &Expression, next: Option<BinaryOp>) -> bool {
    matches!(next, Some(BinaryOp::Subtract | BinaryOp::NotIn)) && ends_in_question_mark(operand)
}

/// Whether it is an `&&` next to an `||`.
fn is_mixed(expression: &Expression, op: BinaryOp) -> bool {
    let ExpressionKind::Binary(binary) = &expression.kind else {
        return false;
    };
    op == BinaryOp::Or && binary.rest[0].op == BinaryOp::And
}

/// Up to which operand a comparison needs parentheses: `(f < a) > (b || c)` without them
/// would be a call with type arguments.
pub(super) fn reads_as_call(binary: &Binary, operand: usize) -> bool {
    let rest = &binary.rest;
    let ops = (rest[operand].op, rest.get(operand + 1).map(|next| next.op));
    if ops != (BinaryOp::Less, Some(BinaryOp::Greater)) {
        return false;
    }
    let left = match operand {
        0 => &binary.first,
        _ => &rest[operand - 1].value,
    };
    let right = &rest[operand + 1];
    let after = rest.get(operand + 2).map(|next| next.op);
    let around = Around::Next(right.op, after);
    let is_round =
        needs_parentheses(&right.value, around) || begins_with(&right.value, Start::Round);
    ends_in_name(left) && is_round
}

/// How an expression may begin so that it is misread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// With a parenthesis.
    Round,
    /// With a brace.
    Brace,
    /// With a word that says how `parallel` works.
    Mode,
}

/// The first thing in an expression that is written without parentheses around it, or
/// `None` if it begins with one.
pub(super) fn leftmost(expression: &Expression) -> Option<&Expression> {
    let mut current = expression;
    loop {
        let (child, around) = match &current.kind {
            ExpressionKind::Binary(binary) => {
                if (0..binary.rest.len()).any(|operand| reads_as_call(binary, operand)) {
                    return None;
                }
                (&binary.first, Around::First(binary.rest[0].op))
            }
            ExpressionKind::Range(range) => (&range.start, Around::RangeEnd),
            ExpressionKind::Ternary(ternary) => (&ternary.condition, Around::TernaryEnd),
            ExpressionKind::Postfix(postfix) if inner_tries(postfix) > 0 => return None,
            ExpressionKind::Postfix(postfix) => (&postfix.base, Around::Base),
            _ => return Some(current),
        };
        if needs_parentheses(child, around) {
            return None;
        }
        current = child;
    }
}

/// How many `?` of a postfix expression are followed by something: each needs parentheses
/// around what it ends, since `a?.b` and `a?[0]` mean something else.
pub(super) fn inner_tries(postfix: &Postfix) -> usize {
    let inner = &postfix.suffixes[..postfix.suffixes.len() - 1];
    let tries = inner
        .iter()
        .filter(|suffix| matches!(suffix.kind, SuffixKind::Try));
    tries.count()
}

fn begins_with(expression: &Expression, start: Start) -> bool {
    let Some(first) = leftmost(expression) else {
        return start == Start::Round;
    };
    match (&first.kind, start) {
        (ExpressionKind::Name(name), Start::Mode) => is_mode(&name.text),
        (ExpressionKind::Call(call), Start::Mode) => is_mode(&call.name.text),
        (ExpressionKind::Dict(_), Start::Brace) => true,
        (ExpressionKind::Closure(closure), Start::Brace) => closure.style == ClosureStyle::Braces,
        _ => false,
    }
}

fn is_mode(name: &str) -> bool {
    matches!(name, "each" | "settle")
}

/// The expression at the start of a statement that must not be taken for all of it.
pub(super) fn guarded(statement: &Expression) -> Option<&Expression> {
    let first = leftmost(statement)?;
    match &first.kind {
        ExpressionKind::Closure(closure) if closure.style == ClosureStyle::Fn => Some(first),
        ExpressionKind::If(_)
        | ExpressionKind::Match(_)
        | ExpressionKind::Try(_)
        | ExpressionKind::Retry(_)
        | ExpressionKind::Parallel(_)
        | ExpressionKind::Deadline(_) => (!std::ptr::eq(first, statement)).then_some(first),
        _ => None,
    }
}

/// Whether a `?` before it begins a ternary.
fn may_follow_question_mark(expression: &Expression) -> bool {
    leftmost(expression).is_none_or(|first| {
        matches!(
            first.kind,
            ExpressionKind::Nil
                | ExpressionKind::Bool(_)
                | ExpressionKind::Int(_)
                | ExpressionKind::Float(_)
                | ExpressionKind::String(_)
                | ExpressionKind::Interpolated(_)
                | ExpressionKind::Name(_)
                | ExpressionKind::Call(_)
                | ExpressionKind::Struct(_)
                | ExpressionKind::Dict(_)
                | ExpressionKind::Closure(_)
                | ExpressionKind::Unary(..)
        )
    })
}

/// The last thing in an expression that is written without parentheses around it.
fn rightmost(expression: &Expression) -> Option<&Expression> {
    let mut current = expression;
    loop {
        let (child, around) = match &current.kind {
            ExpressionKind::Unary(_, value) | ExpressionKind::TryStar(value) => {
                (&**value, Around::Prefix)
            }
            ExpressionKind::Binary(binary) => {
                let last = binary.rest.last()?;
                (&last.value, Around::Next(last.op, None))
            }
            ExpressionKind::Range(range) if !range.exclusive => (&range.end, Around::RangeEnd),
            ExpressionKind::Ternary(ternary) => (&ternary.otherwise, Around::TernaryEnd),
            _ => return Some(current),
        };
        if needs_parentheses(child, around) {
            return None;
        }
        current = child;
    }
}

fn ends_in_question_mark(expression: &Expression) -> bool {
    rightmost(expression).is_some_and(|last| match &last.kind {
        ExpressionKind::Postfix(postfix) => {
            let last = postfix.suffixes.last().map(|suffix| &suffix.kind);
            matches!(last, Some(SuffixKind::Try))
        }
        _ => false,
    })
}

/// Whether an `else` after it would become its own.
fn ends_in_open_if(expression: &Expression) -> bool {
    rightmost(expression).is_some_and(|last| match &last.kind {
        ExpressionKind::If(item) => item.otherwise.is_none(),
        _ => false,
    })
}

fn ends_in_name(expression: &Expression) -> bool {
    rightmost(expression).is_some_and(|last| matches!(last.kind, ExpressionKind::Name(_)))
}

/// Whether there is an arrow in the type arguments of a call somewhere in an expression.
/// In a dict it would turn the braces into a closure, were it not for parentheses.
pub(super) fn has_arrow_in_call(expression: &Expression) -> bool {
    let mut search = ArrowSearch { found: false };
    search.expression(expression);
    search.found
}

struct ArrowSearch {
    found: bool,
}

impl Visit for ArrowSearch {
    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Call(call) = &expression.kind {
            self.found |= call.type_arguments.iter().any(has_function);
        }
        if !self.found {
            walk_expression(self, expression);
        }
    }
}

fn has_function(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Function(..) => true,
        TypeKind::Named(_, types) | TypeKind::Union(types) => types.iter().any(has_function),
        _ => false,
    }
}
