//! `break` and `continue` need a loop of the same body; the program does not compile
//! otherwise, so this is an error.

use harn_syntax::tree::{Statement, StatementKind};

use super::Findings;
use crate::lint::rule::Rule;
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "break-outside-loop",
    summary: "`break` and `continue` need a loop of the same function body.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(place: Place, statement: &Statement, out: &mut Findings) {
    let word = match &statement.kind {
        StatementKind::Break => "break",
        StatementKind::Continue => "continue",
        _ => return,
    };
    if !place.in_loop {
        let message = format!("`{word}` outside of a loop");
        let help = "a closure, `spawn` or `parallel` body is a body of its own; \
                    use `return` to leave it";
        out.push(RULE.error(statement.span, message).with_help(help));
    }
}
