//! An operator with a literal it can never work with: `"total: " + 3`, `count - nil`.
//! The program fails as soon as it gets there, so this is an error.

use harn_syntax::tree::{BinaryOp, Expression, ExpressionKind, Operand, Statement, StatementKind};
use harn_syntax::{Diagnostic, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts::{self, Kind};
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "invalid-binary-op-literal",
    summary: "An operator must be able to work with its literals.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Binary(binary) = &expression.kind else {
        return;
    };
    let mut left = facts::literal(&binary.first);
    let mut before = &binary.first;
    for (at, operand) in binary.rest.iter().enumerate() {
        let right = facts::literal(&operand.value);
        if let Some(message) = complaint(operand.op, left, right) {
            let span = before.span.to(operand.value.span);
            let span = ctx.source.whole(span).unwrap_or(span);
            let finding = RULE.error(span, message).with_help(help(left, right));
            let fix = (at == 0).then(|| to_string(ctx, before, left, operand, right));
            out.push(match fix.flatten() {
                Some((span, text)) => {
                    finding.with_fix("Convert it to a string", vec![replace(span, text)])
                }
                None => finding,
            });
            return;
        }
        // What comes out of an operator is not looked into.
        left = None;
        before = &operand.value;
    }
}

/// `x += nil`
pub(super) fn statement(statement: &Statement, out: &mut Findings) {
    let StatementKind::Assignment(assignment) = &statement.kind else {
        return;
    };
    let Some(op) = assignment.op else {
        return;
    };
    let right = facts::literal(&assignment.value);
    let finding = |message: String| -> Diagnostic {
        RULE.error(statement.span, message)
            .with_help(help(None, right))
    };
    out.extend(complaint(op, None, right).map(finding));
}

fn complaint(op: BinaryOp, left: Option<Kind>, right: Option<Kind>) -> Option<String> {
    if !is_arithmetic(op) {
        return None;
    }
    let sign = op.text();
    let impossible = [left, right].into_iter().flatten();
    if let Some(kind) = impossible.into_iter().find(|kind| !can_take(op, *kind)) {
        return Some(format!("`{sign}` cannot work with {}", kind.text()));
    }
    let (left, right) = (left?, right?);
    let fits = are_numbers(left, right)
        || match op {
            BinaryOp::Add => left == right,
            BinaryOp::Multiply => {
                matches!(
                    (left, right),
                    (Kind::String, Kind::Int) | (Kind::Int, Kind::String)
                )
            }
            _ => false,
        };
    (!fits).then(|| format!("`{sign}` cannot join {} and {}", left.text(), right.text()))
}

fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::Power
    )
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Float)
}

fn are_numbers(left: Kind, right: Kind) -> bool {
    is_number(left) && is_number(right)
}

/// Whether an operator can do anything with that kind of value.
fn can_take(op: BinaryOp, kind: Kind) -> bool {
    match op {
        BinaryOp::Add => is_number(kind) || matches!(kind, Kind::String | Kind::List | Kind::Dict),
        BinaryOp::Multiply => is_number(kind) || kind == Kind::String,
        _ => is_number(kind),
    }
}

fn help(left: Option<Kind>, right: Option<Kind>) -> &'static str {
    match [left, right].contains(&Some(Kind::String)) {
        true => "convert with `to_string`, or write a string with `${…}` inside",
        false => "use a value the operator understands",
    }
}

/// The change that makes a number in a concatenation a string.
fn to_string(
    ctx: &Context<'_>,
    first: &Expression,
    left: Option<Kind>,
    operand: &Operand,
    right: Option<Kind>,
) -> Option<(Span, String)> {
    let (left, right) = (left?, right?);
    if operand.op != BinaryOp::Add {
        return None;
    }
    let number = match (left, right) {
        (Kind::String, kind) if is_number(kind) => &operand.value,
        (kind, Kind::String) if is_number(kind) => first,
        _ => return None,
    };
    let span = ctx.source.whole(number.span)?;
    let text = span.of(ctx.source.text);
    Some((span, format!("to_string({text})")))
}
