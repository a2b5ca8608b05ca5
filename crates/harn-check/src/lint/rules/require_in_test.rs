//! A test says what it expects with `assert`; `require` says what a program needs.

use harn_syntax::Span;
use harn_syntax::tree::{Require, Statement, StatementKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, replace};
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "require-in-test",
    summary: "A test says what it expects with `assert`, not with `require`.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, place: Place, statement: &Statement, out: &mut Findings) {
    let StatementKind::Require(require) = &statement.kind else {
        return;
    };
    if !place.in_test {
        return;
    }
    let word = Span {
        start: statement.span.start,
        end: statement.span.start + "require".len() as u32,
    };
    let finding = RULE
        .warning(word, "a test uses `require`")
        .with_help("use `assert`, `assert_eq` or `assert_ne`: they tell what was found");
    out.push(match assertion(ctx, statement, require) {
        Some(text) => {
            let edits = vec![replace(statement.span, text)];
            finding.with_fix("Replace with `assert`", edits)
        }
        None => finding,
    });
}

fn assertion(ctx: &Context<'_>, statement: &Statement, require: &Require) -> Option<String> {
    if !ctx.source.is_free_of_comments(statement.span) {
        return None;
    }
    let condition = ctx.source.expression(&require.condition)?;
    Some(match &require.message {
        Some(message) => format!("assert({condition}, {})", ctx.source.expression(message)?),
        None => format!("assert({condition})"),
    })
}
