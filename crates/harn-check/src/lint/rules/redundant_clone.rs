//! Values never change, so there is nothing to gain from a copy: `[...xs]`, `{...options}`,
//! `xs[:]`, `xs.slice()`, and `.clone()` or `.copy()`, which do not even exist and give nil.

use harn_syntax::Span;
use harn_syntax::tree::{Argument, Entry, Expression, ExpressionKind, Postfix, Suffix, SuffixKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, remove, replace};
use crate::lint::source::TIGHTEST;

pub(crate) const RULE: Rule = Rule {
    name: "redundant-clone",
    summary: "Values never change, so they need no copies.",
    fixable: true,
    on_by_default: true,
};

const HELP: &str = "use the value itself; assigning to an element or a field of one variable never \
                    affects another";

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    match &expression.kind {
        ExpressionKind::List(elements) => {
            if let [Argument::Spread(value)] = &elements[..] {
                spread(ctx, expression.span, value, out);
            }
        }
        ExpressionKind::Dict(entries) => {
            if let [Entry::Spread(value)] = &entries[..] {
                spread(ctx, expression.span, value, out);
            }
        }
        ExpressionKind::Postfix(postfix) => suffixes(ctx, postfix, out),
        _ => {}
    }
}

fn spread(ctx: &Context<'_>, span: Span, value: &Expression, out: &mut Findings) {
    let finding = RULE
        .warning(span, "this copies a value that never changes")
        .with_help(HELP);
    let text = ctx.source.operand(value, TIGHTEST);
    out.push(match text {
        Some(text) if ctx.source.is_free_of_comments(span) => {
            finding.with_fix("Use the value itself", vec![replace(span, text)])
        }
        _ => finding,
    });
}

fn suffixes(ctx: &Context<'_>, postfix: &Postfix, out: &mut Findings) {
    for suffix in &postfix.suffixes {
        if is_copy(ctx, suffix) {
            out.push(
                RULE.warning(suffix.span, "this copies a value that never changes")
                    .with_help(HELP)
                    .with_fix("Use the value itself", vec![remove(suffix.span)]),
            );
        }
    }
}

fn is_copy(ctx: &Context<'_>, suffix: &Suffix) -> bool {
    match &suffix.kind {
        SuffixKind::Slice { start, end } => start.is_none() && end.is_none(),
        SuffixKind::Method {
            name, arguments, ..
        } => {
            let is_copy = match name.text.as_str() {
                "clone" | "copy" | "slice" => arguments.is_empty(),
                _ => false,
            };
            is_copy
                && !ctx.names.has_method(&name.text)
                && ctx.source.is_free_of_comments(suffix.span)
        }
        _ => false,
    }
}
