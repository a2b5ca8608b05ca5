//! Statements after one that always leaves: `return`, `throw`, `break`, `continue`, or an `if`
//! whose branches all do. Reported once for a block, at the first of them.

use harn_syntax::tree::{Block, ExpressionKind, If, Statement, StatementKind};

use super::Findings;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "dead-code-after-return",
    summary: "Nothing after a `return` is ever reached.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(statements: &[Statement], out: &mut Findings) {
    let Some((at, word)) = exit(statements) else {
        return;
    };
    // Declarations do nothing where they stand, and at the top level they count from anywhere.
    let is_done = |one: &&Statement| !matches!(one.kind, StatementKind::Item(_));
    if let Some(dead) = statements[at + 1..].iter().find(is_done) {
        out.push(
            RULE.warning(dead.span, format!("this is never reached: {word}"))
                .with_secondary(statements[at].span, "this always leaves")
                .with_help("remove it, or move it before"),
        );
    }
}

/// The first statement that always leaves.
fn exit(statements: &[Statement]) -> Option<(usize, &'static str)> {
    let exits = statements.iter().map(leaves).enumerate();
    let mut exits = exits.filter_map(|(at, word)| Some((at, word?)));
    exits.next()
}

fn leaves(statement: &Statement) -> Option<&'static str> {
    match &statement.kind {
        StatementKind::Return(_) => Some("`return` comes before it"),
        StatementKind::Throw(_) => Some("`throw` comes before it"),
        StatementKind::Break => Some("`break` comes before it"),
        StatementKind::Continue => Some("`continue` comes before it"),
        StatementKind::Expression(value) => match &value.kind {
            ExpressionKind::If(item) if all_leave(item) => Some("every branch before it leaves"),
            _ => None,
        },
        _ => None,
    }
}

/// Looks at the last statements of the branches only, so that the walk over a whole file stays
/// linear in its length.
fn all_leave(item: &If) -> bool {
    let last = |block: &Block| {
        block
            .statements
            .last()
            .is_some_and(|one| leaves(one).is_some())
    };
    item.otherwise.as_ref().is_some_and(last) && item.branches.iter().all(|(_, one)| last(one))
}
