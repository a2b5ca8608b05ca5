//! A list over several lines ends with a comma, one on a single line does not: the way the
//! formatter writes them, so that adding a line changes one line.

use harn_syntax::tree::{
    Expression, ExpressionKind, Item, ItemKind, LoopPattern, Pattern, PatternKind, Statement,
    StatementKind, SuffixKind,
};
use harn_syntax::{Span, TokenKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, insert, remove};

pub(crate) const RULE: Rule = Rule {
    name: "trailing-comma",
    summary: "A list over several lines ends with a comma, one on a single line does not.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn statement(ctx: &Context<'_>, statement: &Statement, out: &mut Findings) {
    match &statement.kind {
        StatementKind::Binding(binding) => pattern(ctx, &binding.pattern, out),
        StatementKind::For(loop_) => {
            if let LoopPattern::One(one) = &loop_.pattern {
                pattern(ctx, one, out);
            }
        }
        StatementKind::Item(item) => {
            if let ItemKind::Import(import) = &item.kind
                && import.names.is_some()
            {
                let start = statement.span.start;
                let brace = ctx
                    .source
                    .find(TokenKind::LeftBrace, start, statement.span.end);
                closed(ctx, brace, out);
            }
        }
        _ => {}
    }
}

fn pattern(ctx: &Context<'_>, pattern: &Pattern, out: &mut Findings) {
    match &pattern.kind {
        PatternKind::Dict { .. } | PatternKind::List { .. } => ends(ctx, pattern.span, out),
        PatternKind::Name(_) => {}
    }
}

pub(super) fn item(ctx: &Context<'_>, item: &Item, out: &mut Findings) {
    match &item.kind {
        ItemKind::Tool(tool) => after(ctx, tool.name.span, out),
        ItemKind::Struct(one) if !one.fields.is_empty() => ends(ctx, one.body, out),
        ItemKind::Enum(one) => {
            if !one.variants.is_empty() {
                ends(ctx, one.body, out);
            }
            let loaded = one.variants.iter();
            let loaded = loaded.filter(|variant| variant.parameters.is_some());
            loaded.for_each(|variant| after(ctx, variant.name.span, out));
        }
        _ => {}
    }
}

pub(super) fn expression(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    match &expression.kind {
        ExpressionKind::List(elements) if !elements.is_empty() => ends(ctx, expression.span, out),
        ExpressionKind::Dict(entries) if !entries.is_empty() => ends(ctx, expression.span, out),
        ExpressionKind::Struct(one) if !one.entries.is_empty() => ends(ctx, expression.span, out),
        ExpressionKind::Call(call) if !call.arguments.is_empty() => {
            ends(ctx, expression.span, out);
        }
        ExpressionKind::Postfix(postfix) => {
            for suffix in &postfix.suffixes {
                if let SuffixKind::Method { arguments, .. } = &suffix.kind
                    && !arguments.is_empty()
                {
                    ends(ctx, suffix.span, out);
                }
            }
        }
        _ => {}
    }
}

/// The parentheses that follow a name.
pub(super) fn after(ctx: &Context<'_>, name: Span, out: &mut Findings) {
    let parenthesis = ctx
        .source
        .find(TokenKind::LeftParenthesis, name.end, ctx.source.end());
    closed(ctx, parenthesis, out);
}

/// What a bracket at some index opens.
fn closed(ctx: &Context<'_>, opener: Option<usize>, out: &mut Findings) {
    let closer = opener.and_then(|at| ctx.source.partner(at));
    if let Some(closer) = closer {
        check(ctx, closer, out);
    }
}

/// What ends with a bracket.
fn ends(ctx: &Context<'_>, span: Span, out: &mut Findings) {
    let at = ctx.source.token_from(span.end.saturating_sub(1));
    let is_bracket = ctx.source.tokens.get(at).is_some_and(|token| {
        token.span.end == span.end
            && matches!(
                token.kind,
                TokenKind::RightBrace | TokenKind::RightBracket | TokenKind::RightParenthesis
            )
    });
    if is_bracket {
        check(ctx, at, out);
    }
}

fn check(ctx: &Context<'_>, closer: usize, out: &mut Findings) {
    let tokens = &ctx.source.tokens[..closer];
    let is_break = |kind: TokenKind| kind == TokenKind::Newline;
    let Some(at) = tokens.iter().rposition(|token| !is_break(token.kind)) else {
        return;
    };
    if ctx.source.partner(closer) == Some(at) {
        return; // There is nothing in it.
    }
    let last = tokens[at];
    let has_comma = last.kind == TokenKind::Comma;
    let is_own_line = at + 1 < closer;
    match (is_own_line, has_comma) {
        (true, false) => out.push(
            RULE.warning(last.span, "a comma is missing at the end of this list")
                .with_help("put a comma after the last element")
                .with_fix("Add a comma", vec![insert(last.span.end, ",")]),
        ),
        (false, true) => out.push(
            RULE.warning(last.span, "this comma is not needed")
                .with_help("leave it out, or put each element on a line of its own")
                .with_fix("Remove the comma", vec![remove(last.span)]),
        ),
        _ => {}
    }
}
