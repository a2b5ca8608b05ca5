//! `x == true` is `x`.
//!
//! Fields and elements are left alone, because they may be missing: `options.quiet == false`
//! tells false from nil. So are variables whose declared type is not `bool`, and names with a
//! capital, which a `{` after them would turn into a struct literal. A fix is offered
//! where the value is known to be a bool; elsewhere `x` alone would also take other values.

use harn_syntax::tree::{BinaryOp, Expression, ExpressionKind, Operand};
use harn_syntax::{Diagnostic, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts::{self, Kind};
use crate::lint::rule::{Rule, replace};
use crate::lint::source::TIGHTEST;

pub(crate) const RULE: Rule = Rule {
    name: "comparison-to-bool",
    summary: "A bool needs no comparison with `true` or `false`.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Binary(binary) = &expression.kind else {
        return;
    };
    let [operand] = &binary.rest[..] else {
        return;
    };
    if !matches!(operand.op, BinaryOp::Equal | BinaryOp::NotEqual) {
        return;
    }
    let (value, literal) = match (&binary.first.kind, &operand.value.kind) {
        (_, ExpressionKind::Bool(literal)) => (&binary.first, *literal),
        (ExpressionKind::Bool(literal), _) => (&operand.value, *literal),
        _ => return,
    };
    out.extend(finding(ctx, expression.span, value, operand, literal));
}

fn finding(
    ctx: &Context<'_>,
    span: Span,
    value: &Expression,
    operand: &Operand,
    literal: bool,
) -> Option<Diagnostic> {
    let kind = facts::kind(value, &ctx.names);
    let is_bool = kind == Some(Kind::Bool);
    if !(is_bool || may_be_bool(ctx, value, kind)) || is_type_like(value) {
        return None;
    }
    let is_wanted = literal == (operand.op == BinaryOp::Equal);
    let text = match is_wanted {
        true => ctx.source.operand(value, operand.op.level()),
        false => {
            let value = ctx.source.operand(value, TIGHTEST - 1);
            value.map(|value| format!("!{value}"))
        }
    };
    let finding = RULE.warning(
        ctx.source.whole(span).unwrap_or(span),
        format!("comparison with `{literal}`"),
    );
    Some(match text {
        Some(text) => with_advice(ctx, finding, text, is_bool),
        None => finding.with_help("use the value itself, or its opposite"),
    })
}

fn with_advice(ctx: &Context<'_>, finding: Diagnostic, text: String, is_bool: bool) -> Diagnostic {
    let span = finding.span;
    let finding = finding.with_help(format!("write `{}`", one_line(&text)));
    let is_whole = ctx.source.whole(span) == Some(span);
    match is_bool && is_whole && ctx.source.is_free_of_comments(span) {
        true => finding.with_fix("Drop the comparison", vec![replace(span, text)]),
        false => finding,
    }
}

/// Whether a value of unknown kind is likely to be a bool.
fn may_be_bool(ctx: &Context<'_>, value: &Expression, kind: Option<Kind>) -> bool {
    let is_open = kind.is_none();
    match &value.kind {
        ExpressionKind::Name(name) => {
            let variable = ctx.names.variable(name);
            is_open && variable.is_none_or(|variable| !variable.is_typed)
        }
        ExpressionKind::Call(call) => {
            let result = crate::builtins::find(&call.name.text).map(|one| one.result);
            is_open && result.is_none_or(|types| !types.contains(&"nil"))
        }
        _ => false,
    }
}

/// `if READY == true { }` is the way to keep `READY { }` from being a struct literal.
fn is_type_like(value: &Expression) -> bool {
    facts::name(value).is_some_and(|name| name.text.starts_with(char::is_uppercase))
}

fn one_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}
