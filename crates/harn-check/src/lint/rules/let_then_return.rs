//! A variable that is bound only to be returned in the next line.
//!
//! A declared type is a reason to keep it.

use harn_syntax::tree::{Binding, Expression, PatternKind, Statement, StatementKind};
use harn_syntax::{Span, TokenKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts;
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "let-then-return",
    summary: "A value can be returned without giving it a name first.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, statements: &[Statement], out: &mut Findings) {
    let [.., first, last] = statements else {
        return;
    };
    let (StatementKind::Binding(binding), StatementKind::Return(Some(value))) =
        (&first.kind, &last.kind)
    else {
        return;
    };
    if !is_returned(binding, value) {
        return;
    }
    let finding = RULE
        .warning(first.span, "this is bound only to be returned")
        .with_help("return the value itself");
    out.push(match edit(ctx, first, binding, last) {
        Some((span, text)) => {
            finding.with_fix("Return the value itself", vec![replace(span, text)])
        }
        None => finding,
    });
}

fn is_returned(binding: &Binding, value: &Expression) -> bool {
    match (&binding.pattern.kind, facts::name(value)) {
        (PatternKind::Name(bound), Some(returned)) => {
            binding.ty.is_none() && bound.text == returned.text
        }
        _ => false,
    }
}

/// Both statements as one. Everything after the `=` is kept as it is written.
fn edit(
    ctx: &Context<'_>,
    first: &Statement,
    binding: &Binding,
    last: &Statement,
) -> Option<(Span, String)> {
    let span = first.span.to(last.span);
    if !ctx.source.is_free_of_comments(span) {
        return None;
    }
    let assign = ctx
        .source
        .find(TokenKind::Assign, binding.pattern.span.end, first.span.end)?;
    let after = ctx.source.tokens[assign].span.end as usize;
    let value = ctx.source.text[after..first.span.end as usize].trim_start();
    Some((span, format!("return {value}")))
}
