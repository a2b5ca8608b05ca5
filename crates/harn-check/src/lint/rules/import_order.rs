//! Imports come first, sorted as the formatter sorts them: `std/…` first, then by path, all
//! names before some names, and the names of each sorted.

use harn_syntax::tree::{Import, ItemKind, Statement, StatementKind};
use harn_syntax::{Edit, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "import-order",
    summary: "Imports come first and are sorted.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    let statements = &ctx.module.statements;
    let end = statements.iter().position(|one| import(one).is_none());
    let (leading, rest) = statements.split_at(end.unwrap_or(statements.len()));
    let leading: Vec<(&Statement, &Import)> = leading
        .iter()
        .filter_map(|statement| Some((statement, import(statement)?)))
        .collect();
    unsorted(ctx, &leading, out);
    for statement in rest {
        if import(statement).is_some() {
            out.push(
                RULE.warning(statement.span, "this import comes after other code")
                    .with_help("move it to the top of the file"),
            );
        }
    }
}

fn import(statement: &Statement) -> Option<&Import> {
    match &statement.kind {
        StatementKind::Item(item) => match &item.kind {
            ItemKind::Import(import) => Some(import),
            _ => None,
        },
        _ => None,
    }
}

/// Where an import belongs.
fn key(import: &Import) -> (bool, &str, bool) {
    let path = import.path.text.as_str();
    (!path.starts_with("std/"), path, import.names.is_some())
}

fn unsorted(ctx: &Context<'_>, imports: &[(&Statement, &Import)], out: &mut Findings) {
    let misplaced = imports.windows(2).find_map(|pair| match pair {
        [(_, before), (statement, after)] => {
            (key(after) < key(before)).then_some((statement.span, "this import is out of order"))
        }
        _ => None,
    });
    let jumbled = || {
        let is_jumbled =
            |import: &Import| import.names.as_ref().is_some_and(|names| !is_sorted(names));
        let found = imports.iter().find(|(_, import)| is_jumbled(import));
        found.map(|(statement, _)| (statement.span, "the names of this import are out of order"))
    };
    let Some((span, message)) = misplaced.or_else(jumbled) else {
        return;
    };
    let finding = RULE
        .warning(span, message)
        .with_help("`std/…` comes first, then the others, by path; names are sorted");
    out.push(match edits(ctx, imports) {
        Some(edits) => finding.with_fix("Sort the imports", edits),
        None => finding,
    });
}

fn is_sorted(names: &[harn_syntax::tree::Name]) -> bool {
    names.is_sorted_by(|left, right| left.text <= right.text)
}

/// Every import in its place, unless a comment stands between them.
fn edits(ctx: &Context<'_>, imports: &[(&Statement, &Import)]) -> Option<Vec<Edit>> {
    let (first, last) = (imports.first()?.0.span, imports.last()?.0.span);
    if !ctx.source.is_free_of_comments(first.to(last)) {
        return None;
    }
    let mut sorted = imports.to_vec();
    sorted.sort_by_key(|(_, import)| key(import));
    let places = imports.iter().map(|(statement, _)| statement.span);
    let texts = sorted
        .iter()
        .map(|(statement, import)| written(ctx, statement.span, import));
    let edits = places.zip(texts);
    Some(edits.map(|(span, text)| replace(span, text)).collect())
}

/// An import with its names sorted. What is between the names stays where it is.
fn written(ctx: &Context<'_>, span: Span, import: &Import) -> String {
    let Some(names) = &import.names else {
        return span.of(ctx.source.text).to_owned();
    };
    let mut sorted: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
    sorted.sort_unstable();
    let mut out = String::new();
    let mut at = span.start;
    for (place, name) in names.iter().zip(sorted) {
        let before = Span {
            start: at,
            end: place.span.start,
        };
        out.push_str(before.of(ctx.source.text));
        out.push_str(name);
        at = place.span.end;
    }
    let rest = Span {
        start: at,
        end: span.end,
    };
    out.push_str(rest.of(ctx.source.text));
    out
}
