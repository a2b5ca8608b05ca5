//! A file begins with a comment that says what it is about. Only if a project asks for it.
//!
//! A doc comment directly above a declaration documents that, and is no header.

use harn_syntax::{CommentKind, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "require-file-header",
    summary: "A file should begin with a comment that says what it is about.",
    fixable: false,
    on_by_default: false,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    let Some(first) = ctx.module.statements.first() else {
        return;
    };
    if ctx.options.require_file_header && !has_header(ctx, first.span) {
        let start = first.span.start as usize;
        let length = first
            .span
            .of(ctx.source.text)
            .lines()
            .next()
            .unwrap_or("")
            .len();
        out.push(
            RULE.warning(Span::new(start, start + length), "this file has no header")
                .with_help("begin it with a comment that says what it is about"),
        );
    }
}

fn has_header(ctx: &Context<'_>, first: Span) -> bool {
    let Some(header) = ctx.source.comments.first() else {
        return false;
    };
    if header.span.start > first.start {
        return false;
    }
    let is_doc = matches!(header.kind, CommentKind::DocBlock | CommentKind::DocLine);
    let mut end = header.span.end;
    for comment in ctx.source.comments_in(Span {
        start: 0,
        end: first.start,
    }) {
        let gap = &ctx.source.text[end as usize..comment.span.start.max(end) as usize];
        if gap.matches('\n').count() > 1 {
            return true;
        }
        end = comment.span.end;
    }
    let gap = &ctx.source.text[end as usize..first.start as usize];
    !is_doc || gap.matches('\n').count() > 1
}
