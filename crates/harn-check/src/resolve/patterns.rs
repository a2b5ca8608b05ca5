//! What the arm of a `match` binds.

use harn_syntax::tree::{Argument, Entry, Expression, ExpressionKind, Name, SuffixKind};

/// A part of an arm.
pub(super) enum Part<'a> {
    /// A name that is bound.
    Binds(&'a Name),
    /// A value to compare with.
    Compares(&'a Expression),
}

/// The parts of a pattern. Patterns are written as expressions; `is_enum` tells which names
/// are enums.
pub(super) fn parts<'a>(pattern: &'a Expression, is_enum: impl Fn(&str) -> bool) -> Vec<Part<'a>> {
    match &pattern.kind {
        ExpressionKind::Name(name) => vec![Part::Binds(name)],
        ExpressionKind::Postfix(postfix) => {
            let ExpressionKind::Name(base) = &postfix.base.kind else {
                return vec![Part::Compares(pattern)];
            };
            match postfix.suffixes.as_slice() {
                [one] if is_enum(&base.text) => match &one.kind {
                    // A payload that is no name is ignored.
                    SuffixKind::Method { arguments, .. } => {
                        let names = arguments.iter().filter_map(plain_name);
                        names.map(Part::Binds).collect()
                    }
                    SuffixKind::Member { .. } => Vec::new(),
                    _ => vec![Part::Compares(pattern)],
                },
                _ => vec![Part::Compares(pattern)],
            }
        }
        ExpressionKind::Dict(entries) => dict_parts(pattern, entries),
        ExpressionKind::List(elements) => {
            let is_plain = |element: &Argument| matches!(element, Argument::One(_));
            match elements.iter().all(is_plain) {
                true => elements.iter().map(|one| part(one.expression())).collect(),
                false => vec![Part::Compares(pattern)],
            }
        }
        _ => vec![Part::Compares(pattern)],
    }
}

fn dict_parts<'a>(pattern: &'a Expression, entries: &'a [Entry]) -> Vec<Part<'a>> {
    let parts = entries.iter().map(|entry| match entry {
        Entry::Field(key, value) => key.name().map(|_| part(value)),
        Entry::Spread(_) => None,
    });
    let parts: Option<Vec<_>> = parts.collect();
    parts.unwrap_or_else(|| vec![Part::Compares(pattern)])
}

fn part(value: &Expression) -> Part<'_> {
    match &value.kind {
        ExpressionKind::Name(name) => Part::Binds(name),
        _ => Part::Compares(value),
    }
}

fn plain_name(argument: &Argument) -> Option<&Name> {
    match argument {
        Argument::One(value) => match &value.kind {
            ExpressionKind::Name(name) => Some(name),
            _ => None,
        },
        Argument::Spread(_) => None,
    }
}
