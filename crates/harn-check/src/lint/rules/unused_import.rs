//! A name that is imported and never mentioned. `pub import` passes names on, and an import of
//! everything does not say what it is for; both are left alone.

use harn_syntax::tree::{Import, ItemKind, Name, Statement, StatementKind};
use harn_syntax::{Diagnostic, Edit, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, remove};

pub(crate) const RULE: Rule = Rule {
    name: "unused-import",
    summary: "What is imported should be used.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    for statement in &ctx.module.statements {
        let StatementKind::Item(item) = &statement.kind else {
            continue;
        };
        if let (ItemKind::Import(import), None) = (&item.kind, item.public) {
            imported(ctx, statement, import, out);
        }
    }
}

fn imported(ctx: &Context<'_>, statement: &Statement, import: &Import, out: &mut Findings) {
    let Some(names) = &import.names else {
        return;
    };
    let is_used = |name: &Name| ctx.names.is_mentioned(&name.text);
    let keeps_one = names.iter().any(is_used);
    for (at, name) in names.iter().enumerate() {
        if is_used(name) {
            continue;
        }
        let finding = unused(name);
        let edit = match keeps_one {
            true => without(ctx, names, at),
            false => Some(remove(ctx.source.whole_statement(statement.span))),
        };
        out.push(match edit {
            Some(edit) => finding.with_fix("Remove the import", vec![edit]),
            None => finding,
        });
    }
}

fn unused(name: &Name) -> Diagnostic {
    let message = format!("`{}` is imported and never used", name.text);
    RULE.warning(name.span, message)
        .with_help("do not import it")
}

/// The list without one of its names, unless a comment would go with it.
fn without(ctx: &Context<'_>, names: &[Name], at: usize) -> Option<Edit> {
    let own = names[at].span;
    let span = match (names.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => Span {
            start: own.start,
            end: next.span.start,
        },
        (None, Some(before)) => Span {
            start: names[before].span.end,
            end: own.end,
        },
        (None, None) => own,
    };
    ctx.source.is_free_of_comments(span).then(|| remove(span))
}
