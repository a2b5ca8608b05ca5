//! Assertions belong in tests; elsewhere `require` says what a program needs.
//!
//! Helpers may assert: functions of a file that declares tests, and functions whose names begin
//! with `assert`, `check`, `expect`, `test` or `verify`.

use harn_syntax::tree::{Argument, Expression, ExpressionKind};
use harn_syntax::{Diagnostic, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, replace};
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "assert-outside-test",
    summary: "Assertions belong in tests; elsewhere use `require`.",
    fixable: true,
    on_by_default: true,
};

const ASSERTIONS: &[&str] = &["assert", "assert_eq", "assert_ne"];

pub(super) fn check(ctx: &Context<'_>, place: Place, expression: &Expression, out: &mut Findings) {
    let Some(finding) = finding(ctx, place, expression) else {
        return;
    };
    // `require` has no value, so only a whole statement can become one.
    let is_statement = place.statement == Some(expression.span);
    let require = is_statement.then(|| require(ctx, expression)).flatten();
    out.push(match require {
        Some(text) => finding.with_fix(
            "Replace with `require`",
            vec![replace(expression.span, text)],
        ),
        None => finding,
    });
}

fn finding(ctx: &Context<'_>, place: Place, expression: &Expression) -> Option<Diagnostic> {
    let ExpressionKind::Call(call) = &expression.kind else {
        return None;
    };
    let is_assertion = ASSERTIONS.contains(&call.name.text.as_str());
    if !is_assertion || is_fine(ctx, place) || ctx.names.declares(&call.name.text) {
        return None;
    }
    let message = format!("`{}` is used outside of a test", call.name.text);
    let span = Span {
        start: expression.span.start,
        end: call.name.span.end,
    };
    let help = "use `require`, or move it into a pipeline named `test_…` or marked with `@test`";
    Some(RULE.warning(span, message).with_help(help))
}

fn is_fine(ctx: &Context<'_>, place: Place) -> bool {
    place.in_test || place.in_assertion || (ctx.file.has_test && !place.in_pipeline)
}

/// The `require` that does the same.
fn require(ctx: &Context<'_>, expression: &Expression) -> Option<String> {
    let ExpressionKind::Call(call) = &expression.kind else {
        return None;
    };
    let is_simple = ctx.source.is_free_of_comments(expression.span) && call.name.text == "assert";
    match &call.arguments[..] {
        [Argument::One(condition)] if is_simple => {
            Some(format!("require {}", ctx.source.expression(condition)?))
        }
        [Argument::One(condition), Argument::One(message)] if is_simple => Some(format!(
            "require {}, {}",
            ctx.source.expression(condition)?,
            ctx.source.expression(message)?
        )),
        _ => None,
    }
}
