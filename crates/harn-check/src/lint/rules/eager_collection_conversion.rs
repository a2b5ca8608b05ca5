//! A lazy iterator that is turned into a list only to be iterated again.
//!
//! Only where the value is certain to be lazy: it begins with a range, `range(…)`, `iter(…)` or
//! goes through `.iter()`. A `for` loop takes anything that `.to_list()` takes.

use harn_syntax::tree::{Argument, SuffixKind};
use harn_syntax::tree::{Expression, ExpressionKind, Postfix, Statement, StatementKind, Suffix};

use super::Findings;
use crate::lint::rule::{Rule, remove};

pub(crate) const RULE: Rule = Rule {
    name: "eager-collection-conversion",
    summary: "An iterator need not become a list to be iterated.",
    fixable: true,
    on_by_default: true,
};

/// Methods of iterators that give iterators again.
const COMBINATORS: &[&str] = &[
    "map",
    "filter",
    "flat_map",
    "take",
    "skip",
    "take_while",
    "skip_while",
    "zip",
    "enumerate",
    "chain",
    "chunks",
    "windows",
    "iter",
];

/// Combinators that mean the same for lists.
const SHARED: &[&str] = &["map", "filter"];

/// Methods that mean the same for lists and iterators, and end the chain.
const SINKS: &[&str] = &[
    "count", "sum", "min", "max", "first", "last", "reduce", "find", "any", "all",
];

/// `for x in xs.iter().map(f).to_list()`
pub(super) fn statement(statement: &Statement, out: &mut Findings) {
    let StatementKind::For(loop_) = &statement.kind else {
        return;
    };
    let ExpressionKind::Postfix(postfix) = &loop_.source.kind else {
        return;
    };
    if let Some(last) = postfix.suffixes.last()
        && method(last) == Some(("to_list", 0))
    {
        report(last, "the loop needs no list", out);
    }
}

/// `xs.iter().map(f).to_list().first()`
pub(super) fn check(expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Postfix(postfix) = &expression.kind else {
        return;
    };
    let mut lazy = is_lazy(&postfix.base);
    for (at, suffix) in postfix.suffixes.iter().enumerate() {
        match method(suffix) {
            Some(("iter", 0)) => lazy = true,
            Some(("to_list", 0)) if lazy && ends_well(postfix, at + 1) => {
                return report(suffix, "what follows needs no list", out);
            }
            Some((name, _)) if lazy => lazy = COMBINATORS.contains(&name),
            _ => lazy = false,
        }
    }
}

/// Whether what follows means the same for an iterator.
fn ends_well(postfix: &Postfix, from: usize) -> bool {
    for suffix in &postfix.suffixes[from..] {
        match method(suffix) {
            Some((name, _)) if SHARED.contains(&name) => {}
            Some(("first" | "last", count)) => return count == 0,
            Some((name, _)) => return name == "to_list" || SINKS.contains(&name),
            None => return false,
        }
    }
    false
}

fn is_lazy(base: &Expression) -> bool {
    match &base.kind {
        ExpressionKind::Range(_) => true,
        ExpressionKind::Call(call) => matches!(call.name.text.as_str(), "iter" | "range"),
        _ => false,
    }
}

/// The method a suffix calls, and with how many arguments.
fn method(suffix: &Suffix) -> Option<(&str, usize)> {
    match &suffix.kind {
        SuffixKind::Method {
            name, arguments, ..
        } => Some((
            name.text.as_str(),
            arguments.iter().filter(|one| is_one(one)).count(),
        )),
        _ => None,
    }
}

fn is_one(argument: &Argument) -> bool {
    matches!(argument, Argument::One(_))
}

fn report(suffix: &Suffix, why: &str, out: &mut Findings) {
    let message = format!("this builds a list for nothing: {why}");
    out.push(
        RULE.warning(suffix.span, message)
            .with_help("drop the `.to_list()`")
            .with_fix("Drop the conversion", vec![remove(suffix.span)]),
    );
}
