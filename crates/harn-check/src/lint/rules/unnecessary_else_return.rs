//! An `else` after branches that all end with `return`: its content can follow the `if`.

use harn_syntax::Span;
use harn_syntax::tree::{Block, ExpressionKind, Statement, StatementKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "unnecessary-else-return",
    summary: "What follows a branch that returns needs no `else`.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, statement: &Statement, out: &mut Findings) {
    let StatementKind::Expression(value) = &statement.kind else {
        return;
    };
    let ExpressionKind::If(item) = &value.kind else {
        return;
    };
    let returns = |block: &Block| {
        let last = block.statements.last();
        last.is_some_and(|last| matches!(last.kind, StatementKind::Return(_)))
    };
    let all_return = item.branches.iter().all(|(_, block)| returns(block));
    let (Some(otherwise), Some((_, last))) = (&item.otherwise, item.branches.last()) else {
        return;
    };
    if !all_return || otherwise.statements.is_empty() {
        return;
    }
    let finding = RULE
        .warning(otherwise.span, "this `else` follows branches that return")
        .with_help("put what is in it after the `if`");
    let span = Span {
        start: last.span.end,
        end: otherwise.span.end,
    };
    out.push(match moved(ctx, statement, otherwise, span) {
        Some(text) => finding.with_fix("Move it out of the `else`", vec![replace(span, text)]),
        None => finding,
    });
}

/// The content of the block as it stands after the `if`. Names it binds would end up in the
/// outer scope, and strings of many lines would change with their indentation; those are left
/// to a person.
fn moved(
    ctx: &Context<'_>,
    statement: &Statement,
    otherwise: &Block,
    span: Span,
) -> Option<String> {
    let binds =
        |one: &Statement| matches!(one.kind, StatementKind::Binding(_) | StatementKind::Item(_));
    let content = Span {
        start: otherwise.span.start + 1,
        end: otherwise.span.end - 1,
    };
    let text = content.of(ctx.source.text);
    let between = Span {
        start: span.start,
        end: otherwise.span.start,
    };
    let is_awkward = otherwise.statements.iter().any(binds)
        || text.contains("\"\"\"")
        || !ctx.source.is_free_of_comments(between);
    if is_awkward {
        return None;
    }
    let indent = ctx.source.indent(statement.span.start);
    let deeper = format!("{indent}  ");
    let lines = text.trim().lines().map(|line| {
        let line = line.strip_prefix(deeper.as_str()).unwrap_or(line);
        format!("\n{indent}{line}")
    });
    Some(lines.collect())
}
