//! What is public at the top level says what it is for.
//!
//! A tool or a skill with a `description` has said it. Tests need no documentation.

use harn_syntax::tree::{Item, ItemKind, Name, Statement, StatementKind};
use harn_syntax::{Comment, CommentKind, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::file;
use crate::lint::rule::Rule;
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "missing-harndoc",
    summary: "What is public should be documented with `/** … */`.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, place: Place, statement: &Statement, out: &mut Findings) {
    let StatementKind::Item(item) = &statement.kind else {
        return;
    };
    if place.in_item || item.public.is_none() || file::is_test(item) {
        return;
    }
    let Some((what, name)) = subject(item) else {
        return;
    };
    if !is_documented(ctx, statement, name) {
        let message = format!("the public {what} `{}` is not documented", name.text);
        out.push(
            RULE.warning(name.span, message)
                .with_help("say what it is for in a `/** … */` directly above it"),
        );
    }
}

fn subject(item: &Item) -> Option<(&'static str, &Name)> {
    Some(match &item.kind {
        ItemKind::Function(one) => ("function", &one.name),
        ItemKind::Pipeline(one) => ("pipeline", &one.name),
        ItemKind::Struct(one) => ("struct", &one.name),
        ItemKind::Enum(one) => ("enum", &one.name),
        ItemKind::Tool(one) if one.description.is_none() => ("tool", &one.name),
        ItemKind::Skill(one) => {
            let is_description = |name: &Name| name.text == "description";
            let is_described = one.fields.iter().any(|field| is_description(&field.name));
            (!is_described).then_some(("skill", &one.name))?
        }
        _ => return None,
    })
}

/// Whether a doc comment stands directly above, or between the attributes and the name.
fn is_documented(ctx: &Context<'_>, statement: &Statement, name: &Name) -> bool {
    let is_doc =
        |comment: &Comment| matches!(comment.kind, CommentKind::DocLine | CommentKind::DocBlock);
    let header = Span {
        start: statement.span.start,
        end: name.span.start,
    };
    if ctx.source.comments_in(header).iter().any(is_doc) {
        return true;
    }
    let before = |comment: &Comment| comment.span.start < statement.span.start;
    let count = ctx.source.comments.partition_point(before);
    let mut below = statement.span.start;
    for comment in ctx.source.comments[..count].iter().rev() {
        let gap = &ctx.source.text[comment.span.end as usize..below as usize];
        let is_adjacent = gap.trim().is_empty() && gap.matches('\n').count() <= 1;
        if !is_adjacent {
            return false;
        }
        if is_doc(comment) {
            return true;
        }
        below = comment.span.start;
    }
    false
}
