//! Documentation is written `/** … */`; a run of `///` lines is the old way.

use harn_syntax::{Comment, CommentKind, Span};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "legacy-doc-comment",
    summary: "Documentation is written `/** … */`, not `///`.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    let mut run: Vec<&Comment> = Vec::new();
    for comment in ctx.source.comments {
        if comment.kind != CommentKind::DocLine {
            report(ctx, &run, out);
            run.clear();
            continue;
        }
        let follows = run.last().is_some_and(|last| {
            ctx.source.line(last.span.start) + 1 == ctx.source.line(comment.span.start)
        });
        if !follows {
            report(ctx, &run, out);
            run.clear();
        }
        run.push(comment);
    }
    report(ctx, &run, out);
}

fn report(ctx: &Context<'_>, run: &[&Comment], out: &mut Findings) {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return;
    };
    let finding = RULE
        .warning(first.span, "this documentation is written with `///`")
        .with_help("write `/** … */`");
    let span = first.span.to(last.span);
    out.push(match block(ctx, run, span) {
        Some(text) => finding.with_fix("Write `/** … */`", vec![replace(span, text)]),
        None => finding,
    });
}

/// The run as one comment, unless its text would end it early.
fn block(ctx: &Context<'_>, run: &[&Comment], span: Span) -> Option<String> {
    let text = span.of(ctx.source.text);
    if text.contains("*/") || text.contains("/*") {
        return None;
    }
    let line = |comment: &&Comment| {
        let text = comment.span.of(ctx.source.text);
        let text = text.strip_prefix("///").unwrap_or(text);
        text.strip_prefix(' ').unwrap_or(text).trim_end()
    };
    if let [only] = run {
        return Some(format!("/** {} */", line(only).trim()));
    }
    let indent = ctx.source.indent(span.start);
    let lines = run.iter().map(|comment| {
        let line = format!("\n{indent} * {}", line(comment));
        line.trim_end().to_owned()
    });
    Some(format!("/**{}\n{indent} */", lines.collect::<String>()))
}
