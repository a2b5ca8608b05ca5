//! The names that patterns bind.

use harn_syntax::tree::{
    Argument, Entry, Expression, ExpressionKind, Name, Pattern, PatternKind, SuffixKind,
};

/// The names that a `let`, a `var` or a `for` binds.
pub(super) fn bound(pattern: &Pattern) -> Vec<&Name> {
    match &pattern.kind {
        PatternKind::Name(name) => vec![name],
        PatternKind::Dict { fields, rest } => {
            let names = fields.iter().map(|field| field.bound());
            names.chain(rest).collect()
        }
        PatternKind::List { elements, rest } => {
            let names = elements.iter().map(|element| &element.name);
            names.chain(rest).collect()
        }
    }
}

/// The parts of a match arm's only pattern that bind names instead of being values.
pub(super) fn arm(pattern: &Expression) -> Vec<&Name> {
    match &pattern.kind {
        ExpressionKind::Name(name) => vec![name],
        ExpressionKind::Postfix(postfix) => match (&postfix.base.kind, &postfix.suffixes[..]) {
            (ExpressionKind::Name(base), [only]) if is_type_name(&base.text) => match &only.kind {
                SuffixKind::Method { arguments, .. } => names(arguments),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
        ExpressionKind::List(elements) => names(elements),
        ExpressionKind::Dict(entries) => {
            let values = entries.iter().filter_map(|entry| match entry {
                Entry::Field(_, value) => Some(value),
                Entry::Spread(_) => None,
            });
            values.filter_map(name).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a name is written like one of a type.
fn is_type_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

fn names(arguments: &[Argument]) -> Vec<&Name> {
    let ones = arguments.iter().map(Argument::expression);
    ones.filter_map(name).collect()
}

fn name(expression: &Expression) -> Option<&Name> {
    match &expression.kind {
        ExpressionKind::Name(name) => Some(name),
        _ => None,
    }
}
