//! A conversion of a value that already is what it is converted to.
//!
//! Inside `${…}` every value is rendered as by `to_string` anyway. Declared ints and floats
//! stand for each other, so converting them is never unnecessary.

use harn_syntax::tree::{Expression, ExpressionKind, Segment};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts::{self, Kind};
use crate::lint::rule::{Rule, replace};
use crate::lint::source::TIGHTEST;

pub(crate) const RULE: Rule = Rule {
    name: "unnecessary-cast",
    summary: "A value needs no conversion to what it already is.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    if let ExpressionKind::Interpolated(segments) = &expression.kind {
        for segment in segments {
            if let Segment::Expression(value) = segment {
                interpolated(ctx, value, out);
            }
        }
    }
    let Some((name, value)) = cast(ctx, expression) else {
        return;
    };
    let Some(kind) = target(name) else {
        return;
    };
    if facts::kind(value, &ctx.names) == Some(kind) {
        let message = format!("`{name}` of what already is {}", kind.text());
        report(ctx, expression, value, message, out);
    }
}

fn interpolated(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let Some(("to_string", value)) = cast(ctx, expression) else {
        return;
    };
    if facts::kind(value, &ctx.names) != Some(Kind::String) {
        let message = "`to_string` inside `${…}`, which does that anyway";
        report(ctx, expression, value, message.to_owned(), out);
    }
}

fn cast<'t>(ctx: &Context<'_>, expression: &'t Expression) -> Option<(&'t str, &'t Expression)> {
    let call = facts::call(expression)?;
    let name = call.name.text.as_str();
    let value = facts::only(&call.arguments)?;
    (target(name).is_some() && ctx.names.is_builtin(name)).then_some((name, value))
}

fn target(name: &str) -> Option<Kind> {
    Some(match name {
        "to_string" => Kind::String,
        "to_int" => Kind::Int,
        "to_float" => Kind::Float,
        "to_list" => Kind::List,
        _ => return None,
    })
}

fn report(
    ctx: &Context<'_>,
    cast: &Expression,
    value: &Expression,
    message: String,
    out: &mut Findings,
) {
    let finding = RULE
        .warning(cast.span, message)
        .with_help("use the value itself");
    let text = ctx.source.operand(value, TIGHTEST);
    out.push(match text {
        Some(text) if ctx.source.is_free_of_comments(cast.span) => {
            finding.with_fix("Drop the conversion", vec![replace(cast.span, text)])
        }
        _ => finding,
    });
}
