//! Literals as they stand in patterns and conditions.

use harn_syntax::tree::{Expression, ExpressionKind, UnaryOp};

use super::ty::Ty;

/// The kind of a literal, if the expression is one. A sign before a number belongs to it.
pub(super) fn literal_kind(expression: &Expression) -> Option<&'static str> {
    Some(match &expression.kind {
        ExpressionKind::String(_) | ExpressionKind::RawString(_) => "string",
        ExpressionKind::Int(_) => "int",
        ExpressionKind::Float(_) => "float",
        ExpressionKind::Bool(_) => "bool",
        ExpressionKind::Nil => "nil",
        ExpressionKind::Unary(UnaryOp::Negate, inner) => match &inner.kind {
            ExpressionKind::Int(_) => "int",
            ExpressionKind::Float(_) => "float",
            _ => return None,
        },
        _ => return None,
    })
}

/// The literal type of a string or an int, if the expression is one.
pub(super) fn literal_type(expression: &Expression) -> Option<Ty> {
    match &expression.kind {
        ExpressionKind::String(text) | ExpressionKind::RawString(text) => {
            Some(Ty::String(text.clone()))
        }
        ExpressionKind::Int(number) => Some(Ty::Int(*number)),
        ExpressionKind::Unary(UnaryOp::Negate, inner) => match &inner.kind {
            ExpressionKind::Int(number) => Some(Ty::Int(number.wrapping_neg())),
            _ => None,
        },
        _ => None,
    }
}
