//! A comparison whose answer is known: of a value with itself, of two literals, or of a length
//! with zero the wrong way round.

use harn_syntax::Diagnostic;
use harn_syntax::tree::{BinaryOp, Expression, ExpressionKind, Postfix, SuffixKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "pointless-comparison",
    summary: "A comparison should be able to come out either way.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Binary(binary) = &expression.kind else {
        return;
    };
    let [operand] = &binary.rest[..] else {
        return;
    };
    if !is_comparison(operand.op) {
        return;
    }
    let (left, right) = (&binary.first, &operand.value);
    let reason = if facts::same_path(left, right) {
        Some(("both sides are the same", SAME_HELP))
    } else if are_literals(left, right) {
        Some((
            "both sides are literals",
            "compare with a value that can change",
        ))
    } else {
        length_reason(ctx, left, operand.op, right)
    };
    let finding = |(reason, help): (&str, &str)| -> Diagnostic {
        let message = format!("this comparison has only one outcome: {reason}");
        let span = ctx.source.whole(expression.span).unwrap_or(expression.span);
        RULE.warning(span, message).with_help(help)
    };
    out.extend(reason.map(finding));
}

const SAME_HELP: &str = "compare with something else, or use `is_nan` to find what is not a number";

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::Greater
            | BinaryOp::LessEqual
            | BinaryOp::GreaterEqual
    )
}

/// Bools are left to `comparison-to-bool`.
fn are_literals(left: &Expression, right: &Expression) -> bool {
    let is_plain = |one: &Expression| {
        matches!(
            one.kind,
            ExpressionKind::Nil
                | ExpressionKind::Int(_)
                | ExpressionKind::Float(_)
                | ExpressionKind::String(_)
                | ExpressionKind::RawString(_)
        )
    };
    is_plain(left) && is_plain(right)
}

/// A length is never negative.
fn length_reason(
    ctx: &Context<'_>,
    left: &Expression,
    op: BinaryOp,
    right: &Expression,
) -> Option<(&'static str, &'static str)> {
    let zero = |one: &Expression| matches!(one.kind, ExpressionKind::Int(0));
    let pointless = match op {
        BinaryOp::Less | BinaryOp::GreaterEqual => is_length(ctx, left) && zero(right),
        BinaryOp::Greater | BinaryOp::LessEqual => zero(left) && is_length(ctx, right),
        _ => false,
    };
    pointless.then_some(("a length is never negative", "compare with `== 0` or `> 0`"))
}

fn is_length(ctx: &Context<'_>, expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Call(call) => call.name.text == "len" && ctx.names.is_builtin("len"),
        ExpressionKind::Postfix(postfix) => is_count(ctx, postfix),
        _ => false,
    }
}

fn is_count(ctx: &Context<'_>, postfix: &Postfix) -> bool {
    let Some(last) = postfix.suffixes.last() else {
        return false;
    };
    match &last.kind {
        SuffixKind::Method {
            name, arguments, ..
        } => name.text == "count" && arguments.is_empty() && !ctx.names.has_method("count"),
        _ => false,
    }
}
