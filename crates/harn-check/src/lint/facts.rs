//! What can be told about an expression without running it.

use harn_syntax::tree::{
    Argument, BinaryOp, Call, Expression, ExpressionKind, Name, Postfix, SuffixKind, Type,
    TypeKind, UnaryOp,
};

use super::names::Names;

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nil,
    Bool,
    Int,
    Float,
    Duration,
    String,
    List,
    Dict,
    Closure,
}

impl Kind {
    /// As it is called in messages.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool => "a bool",
            Self::Int => "an int",
            Self::Float => "a float",
            Self::Duration => "a duration",
            Self::String => "a string",
            Self::List => "a list",
            Self::Dict => "a dict",
            Self::Closure => "a closure",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "nil" => Self::Nil,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "string" => Self::String,
            "list" => Self::List,
            "dict" => Self::Dict,
            _ => return None,
        })
    }
}

/// What a literal is.
pub(super) fn literal(expression: &Expression) -> Option<Kind> {
    Some(match &expression.kind {
        ExpressionKind::Nil => Kind::Nil,
        ExpressionKind::Bool(_) => Kind::Bool,
        ExpressionKind::Int(_) => Kind::Int,
        ExpressionKind::Float(_) => Kind::Float,
        ExpressionKind::Duration(_) => Kind::Duration,
        ExpressionKind::String(_)
        | ExpressionKind::RawString(_)
        | ExpressionKind::Interpolated(_) => Kind::String,
        ExpressionKind::List(_) => Kind::List,
        ExpressionKind::Dict(_) => Kind::Dict,
        ExpressionKind::Closure(_) => Kind::Closure,
        ExpressionKind::Unary(UnaryOp::Negate, value) => match literal(value)? {
            kind @ (Kind::Int | Kind::Float) => kind,
            _ => return None,
        },
        _ => return None,
    })
}

/// What an expression is known to be, whatever happens.
pub(super) fn kind(expression: &Expression, names: &Names) -> Option<Kind> {
    if let Some(kind) = literal(expression) {
        return Some(kind);
    }
    match &expression.kind {
        ExpressionKind::Unary(UnaryOp::Not, _) => Some(Kind::Bool),
        ExpressionKind::Binary(binary) => {
            let level = binary.rest.first()?.op.level();
            let is_test = (BinaryOp::Or.level()..=BinaryOp::In.level()).contains(&level);
            is_test.then_some(Kind::Bool)
        }
        ExpressionKind::Call(call) if names.is_builtin(&call.name.text) => {
            match crate::builtins::find(&call.name.text)?.result {
                [only] => Kind::named(only),
                _ => None,
            }
        }
        ExpressionKind::Name(name) => names.variable(name)?.value,
        _ => None,
    }
}

/// What a declared type makes sure of. Ints and floats stand for each other there, so they make
/// sure of nothing.
pub(super) fn declared(ty: &Type) -> Option<Kind> {
    match &ty.kind {
        TypeKind::Named(name, _) => match Kind::named(&name.text)? {
            Kind::Int | Kind::Float => None,
            kind => Some(kind),
        },
        TypeKind::List(_) => Some(Kind::List),
        TypeKind::Bool(_) => Some(Kind::Bool),
        TypeKind::String(_) => Some(Kind::String),
        _ => None,
    }
}

/// Whether a type says what is inside a value.
pub(super) fn says_something(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Named(name, arguments) => {
            !(arguments.is_empty() && matches!(name.text.as_str(), "any" | "dict" | "unknown"))
        }
        _ => true,
    }
}

/// Whether nothing but members and indexes follows a value.
pub(super) fn only_members(postfix: &Postfix) -> bool {
    let is_member =
        |kind: &SuffixKind| matches!(kind, SuffixKind::Member { .. } | SuffixKind::Index { .. });
    postfix
        .suffixes
        .iter()
        .all(|suffix| is_member(&suffix.kind))
}

/// The call an expression is.
pub(super) fn call(expression: &Expression) -> Option<&Call> {
    match &expression.kind {
        ExpressionKind::Call(call) => Some(call),
        _ => None,
    }
}

/// The name an expression is.
pub(super) fn name(expression: &Expression) -> Option<&Name> {
    match &expression.kind {
        ExpressionKind::Name(name) if !name.is_discard() => Some(name),
        _ => None,
    }
}

/// The text of a string without interpolations.
pub(super) fn text(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::String(text) | ExpressionKind::RawString(text) => Some(text),
        _ => None,
    }
}

/// The only argument, unless it is spread.
pub(super) fn only(arguments: &[Argument]) -> Option<&Expression> {
    match arguments {
        [Argument::One(only)] => Some(only),
        _ => None,
    }
}

/// Whether both are the same variable, or the same member of one: asking twice gives the same.
pub(super) fn same_path(left: &Expression, right: &Expression) -> bool {
    match (&left.kind, &right.kind) {
        (ExpressionKind::Name(left), ExpressionKind::Name(right)) => {
            left.text == right.text && !left.is_discard()
        }
        (ExpressionKind::Postfix(left), ExpressionKind::Postfix(right)) => {
            let suffixes = left.suffixes.iter().zip(&right.suffixes);
            let same = |(left, right): (&_, &_)| same_suffix(left, right);
            left.suffixes.len() == right.suffixes.len()
                && same_path(&left.base, &right.base)
                && suffixes.map(|(a, b)| (&a.kind, &b.kind)).all(same)
        }
        _ => false,
    }
}

fn same_suffix(left: &SuffixKind, right: &SuffixKind) -> bool {
    match (left, right) {
        (
            SuffixKind::Member { name, optional },
            SuffixKind::Member {
                name: other_name,
                optional: other_optional,
            },
        ) => name.text == other_name.text && optional == other_optional,
        (
            SuffixKind::Index { index, optional },
            SuffixKind::Index {
                index: other_index,
                optional: other_optional,
            },
        ) => {
            optional == other_optional
                && (same_literal(index, other_index) || same_path(index, other_index))
        }
        _ => false,
    }
}

/// Whether both are the same literal.
pub(super) fn same_literal(left: &Expression, right: &Expression) -> bool {
    match (&left.kind, &right.kind) {
        (ExpressionKind::Nil, ExpressionKind::Nil) => true,
        (ExpressionKind::Bool(left), ExpressionKind::Bool(right)) => left == right,
        (ExpressionKind::Int(left), ExpressionKind::Int(right)) => left == right,
        (ExpressionKind::String(left), ExpressionKind::String(right)) => left == right,
        _ => false,
    }
}
