//! A declaration of several lines is set apart by an empty line at the top level. Imports,
//! variables and declarations of one line may stand close together.

use harn_syntax::tree::{ItemKind, Statement, StatementKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, insert};

pub(crate) const RULE: Rule = Rule {
    name: "blank-line-between-items",
    summary: "An empty line sets declarations apart.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    for pair in ctx.module.statements.windows(2) {
        if let [before, after] = pair
            && (is_tall(ctx, before) || is_tall(ctx, after))
        {
            between(ctx, before, after, out);
        }
    }
}

fn is_tall(ctx: &Context<'_>, statement: &Statement) -> bool {
    let StatementKind::Item(item) = &statement.kind else {
        return false;
    };
    let is_import = matches!(item.kind, ItemKind::Import(_));
    let line = |offset| ctx.source.line(offset);
    !is_import && line(statement.span.start) != line(statement.span.end)
}

fn between(ctx: &Context<'_>, before: &Statement, after: &Statement, out: &mut Findings) {
    let text = &ctx.source.text[before.span.end as usize..after.span.start as usize];
    let next = ctx.source.line_end(before.span.end);
    // The rest of the line of the one before is not a line of its own.
    let lines = text.lines().count();
    let empty = text.lines().enumerate().any(|(at, line)| {
        let is_inner = at > 0 && (at + 1 < lines || text.ends_with('\n'));
        is_inner && line.trim().is_empty()
    });
    if empty || next > after.span.start {
        return;
    }
    out.push(
        RULE.warning(
            first_line(ctx, after),
            "an empty line is missing before this",
        )
        .with_help("put an empty line between the two")
        .with_fix("Add an empty line", vec![insert(next, "\n")]),
    );
}

/// The first line of a statement, so that the whole declaration is not marked.
fn first_line(ctx: &Context<'_>, statement: &Statement) -> harn_syntax::Span {
    let text = statement.span.of(ctx.source.text);
    let length = text.lines().next().unwrap_or("").len();
    let start = statement.span.start as usize;
    harn_syntax::Span::new(start, start + length)
}
