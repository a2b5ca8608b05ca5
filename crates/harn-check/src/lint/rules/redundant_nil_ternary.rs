//! A ternary that asks for nil where an operator does: `x == nil ? y : x` is `x ?? y`, and
//! `x == nil ? nil : x.name` is `x?.name`.

use harn_syntax::tree::{BinaryOp, Expression, ExpressionKind, Postfix, SuffixKind, Ternary};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts;
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "redundant-nil-ternary",
    summary: "`??` and `?.` say it shorter than a ternary that asks for nil.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Ternary(ternary) = &expression.kind else {
        return;
    };
    let Some(text) = shorter(ctx, ternary) else {
        return;
    };
    let Some(span) = ctx.source.whole(expression.span) else {
        return;
    };
    let finding = RULE
        .warning(span, "this ternary only asks for nil")
        .with_help(format!("write `{text}`"));
    out.push(match ctx.source.is_free_of_comments(span) {
        true => finding.with_fix("Shorten it", vec![replace(span, text)]),
        false => finding,
    });
}

/// What says the same without the ternary.
fn shorter(ctx: &Context<'_>, ternary: &Ternary) -> Option<String> {
    let (value, if_nil, if_not) = parts(ternary)?;
    let is_nil = matches!(if_nil.kind, ExpressionKind::Nil);
    let text = ctx.source.expression(value)?;
    if facts::same_path(value, if_not) {
        return Some(match is_nil {
            true => text.to_owned(),
            false => {
                let level = BinaryOp::Coalesce.level() + 1;
                format!("{text} ?? {}", ctx.source.operand(if_nil, level)?)
            }
        });
    }
    let ExpressionKind::Postfix(postfix) = &if_not.kind else {
        return None;
    };
    (is_nil && is_one_step_from(value, postfix))
        .then(|| optional(ctx, text, postfix))
        .flatten()
}

/// The value that is asked about, what comes if it is nil, and what comes if it is not.
fn parts(ternary: &Ternary) -> Option<(&Expression, &Expression, &Expression)> {
    let ExpressionKind::Binary(condition) = &ternary.condition.kind else {
        return None;
    };
    let [operand] = &condition.rest[..] else {
        return None;
    };
    let is_nil = |one: &Expression| matches!(one.kind, ExpressionKind::Nil);
    let value = match (is_nil(&condition.first), is_nil(&operand.value)) {
        (false, true) => &condition.first,
        (true, false) => &operand.value,
        _ => return None,
    };
    match operand.op {
        BinaryOp::Equal => Some((value, &ternary.then, &ternary.otherwise)),
        BinaryOp::NotEqual => Some((value, &ternary.otherwise, &ternary.then)),
        _ => None,
    }
}

/// Whether it is a member of a variable: `x.name` for `x`. Longer ones would need a `?.` at
/// each step, and then mean something else.
fn is_one_step_from(value: &Expression, postfix: &Postfix) -> bool {
    postfix.suffixes.len() == 1 && facts::same_path(value, &postfix.base)
}

fn optional(ctx: &Context<'_>, base: &str, postfix: &Postfix) -> Option<String> {
    let suffix = postfix.suffixes.first()?;
    let text = suffix.span.of(ctx.source.text);
    match &suffix.kind {
        SuffixKind::Member {
            optional: false, ..
        }
        | SuffixKind::Method {
            optional: false, ..
        }
        | SuffixKind::Index {
            optional: false, ..
        } => Some(format!("{base}?{text}")),
        _ => None,
    }
}
