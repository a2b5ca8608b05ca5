//! Where an expression begins and ends once its parentheses are gone.
//!
//! The span of `(a) + (b)` reaches from one parenthesis to the other, but those may not be
//! written again. Comments are placed by what certainly is: the first and the last token
//! that is no parenthesis.

use crate::tree::{Expression, ExpressionKind};

/// Where its first token begins that is no parenthesis.
pub(super) fn start(expression: &Expression) -> u32 {
    let mut first = expression;
    loop {
        first = match &first.kind {
            ExpressionKind::Binary(binary) => &binary.first,
            ExpressionKind::Range(range) => &range.start,
            ExpressionKind::Ternary(ternary) => &ternary.condition,
            ExpressionKind::Postfix(postfix) => &postfix.base,
            _ => return first.span.start,
        };
    }
}

/// Where its last token ends that is no closing parenthesis of an operand.
pub(super) fn end(expression: &Expression) -> u32 {
    let mut last = expression;
    loop {
        last = match &last.kind {
            ExpressionKind::Binary(binary) => match binary.rest.last() {
                Some(operand) => &operand.value,
                None => return last.span.end,
            },
            ExpressionKind::Range(range) if !range.exclusive => &range.end,
            ExpressionKind::Ternary(ternary) => &ternary.otherwise,
            ExpressionKind::Unary(_, value) | ExpressionKind::TryStar(value) => value,
            _ => return last.span.end,
        };
    }
}
