//! A block with nothing in it, not even a comment.
//!
//! Bodies of functions and pipelines, match arms, `select` cases and closures may be empty:
//! there it is the plain way to do nothing.

use harn_syntax::Span;
use harn_syntax::tree::{Block, Expression, ExpressionKind, If, Statement, StatementKind, Try};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, remove};

pub(crate) const RULE: Rule = Rule {
    name: "empty-block",
    summary: "A block should do something, or say in a comment why it does not.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn statement(ctx: &Context<'_>, statement: &Statement, out: &mut Findings) {
    match &statement.kind {
        StatementKind::For(loop_) => block(ctx, "for", &loop_.body, out),
        StatementKind::While(loop_) => block(ctx, "while", &loop_.body, out),
        StatementKind::Guard(guard) => block(ctx, "guard", &guard.otherwise, out),
        StatementKind::Mutex(body) => block(ctx, "mutex", body, out),
        StatementKind::Defer(body) => block(ctx, "defer", body, out),
        _ => {}
    }
}

pub(super) fn expression(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    match &expression.kind {
        ExpressionKind::If(item) => condition(ctx, item, out),
        ExpressionKind::Try(item) => attempt(ctx, item, out),
        ExpressionKind::Retry(item) => block(ctx, "retry", &item.body, out),
        ExpressionKind::Deadline(item) => block(ctx, "deadline", &item.body, out),
        ExpressionKind::Spawn(body) => block(ctx, "spawn", body, out),
        _ => {}
    }
}

fn condition(ctx: &Context<'_>, item: &If, out: &mut Findings) {
    for (_, body) in &item.branches {
        block(ctx, "if", body, out);
    }
    let last = item.branches.last().map(|(_, body)| body);
    if let (Some(otherwise), Some(last)) = (&item.otherwise, last) {
        removable(ctx, "else", otherwise, last, out);
    }
}

fn attempt(ctx: &Context<'_>, item: &Try, out: &mut Findings) {
    block(ctx, "try", &item.body, out);
    if let Some(catch) = &item.catch {
        block(ctx, "catch", &catch.body, out);
    }
    // Without a `catch`, a `finally` also decides what the whole gives.
    match (&item.finally, &item.catch) {
        (Some(finally), Some(catch)) => removable(ctx, "finally", finally, &catch.body, out),
        (Some(finally), None) => block(ctx, "finally", finally, out),
        (None, _) => {}
    }
}

fn is_empty(ctx: &Context<'_>, body: &Block) -> bool {
    body.statements.is_empty() && ctx.source.is_free_of_comments(body.span)
}

fn message(word: &str) -> String {
    format!("this `{word}` block is empty")
}

const HELP: &str = "put something into it, or a comment that says why it is empty";

fn block(ctx: &Context<'_>, word: &str, body: &Block, out: &mut Findings) {
    if is_empty(ctx, body) {
        out.push(RULE.warning(body.span, message(word)).with_help(HELP));
    }
}

/// A block that can be left out with the word before it.
fn removable(ctx: &Context<'_>, word: &str, body: &Block, before: &Block, out: &mut Findings) {
    if !is_empty(ctx, body) {
        return;
    }
    let finding = RULE.warning(body.span, message(word)).with_help(HELP);
    let span = Span {
        start: before.span.end,
        end: body.span.end,
    };
    out.push(match ctx.source.is_free_of_comments(span) {
        true => finding.with_fix(format!("Remove the `{word}`"), vec![remove(span)]),
        false => finding,
    });
}
