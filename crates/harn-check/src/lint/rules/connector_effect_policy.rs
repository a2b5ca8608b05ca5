//! What cannot be taken back is not done through a connector without a person's consent.
//!
//! Looked at are merges, deletions and the like, by `connector_call` or a function of
//! `std/connectors/…`. Consent is `request_approval`, `dual_control`, `ask_user` or
//! `escalate_to` earlier in the same body, a function of the file that calls one of them, or an
//! `@invariant` on the declaration. Messages, comments and labels are left alone.

use harn_syntax::Span;
use harn_syntax::tree::{Call, Entry, Expression, ExpressionKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::facts;
use crate::lint::rule::Rule;
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "connector-effect-policy",
    summary: "What cannot be taken back needs a person's consent.",
    fixable: false,
    on_by_default: true,
};

/// How the names of such methods begin.
const FINAL: &[&str] = &["archive_", "close_", "delete_", "merge_", "remove_"];

pub(super) fn check(ctx: &Context<'_>, place: Place, call: &Call, span: Span, out: &mut Findings) {
    if place.gates.asked || place.in_invariant {
        return;
    }
    let Some(method) = effect(ctx, call) else {
        return;
    };
    let name = Span {
        start: span.start,
        end: call.name.span.end,
    };
    let message = format!("`{method}` cannot be taken back, and nobody is asked before");
    out.push(
        RULE.warning(name, message)
            .with_help("ask with `request_approval` first, or run it inside `dual_control`"),
    );
}

/// The method a call makes a connector do, if it is final.
fn effect<'t>(ctx: &Context<'_>, call: &'t Call) -> Option<&'t str> {
    let mut arguments = call.arguments.iter().map(|one| one.expression());
    match call.name.text.as_str() {
        "connector_call" => {
            let method = facts::text(arguments.nth(1)?)?;
            let deletes = method == "api_call" && arguments.any(deletes);
            (is_final(method) || deletes).then_some(method)
        }
        "api_call" if ctx.file.uses_connectors => {
            let deletes = arguments.any(|one| facts::text(one) == Some("DELETE"));
            deletes.then_some("api_call")
        }
        name => {
            let is_imported = ctx.file.uses_connectors && !ctx.names.declares(name);
            (is_imported && is_final(name)).then_some(name)
        }
    }
}

fn is_final(method: &str) -> bool {
    FINAL.iter().any(|start| method.starts_with(start))
}

/// `{method: "DELETE"}`
fn deletes(parameters: &Expression) -> bool {
    let ExpressionKind::Dict(entries) = &parameters.kind else {
        return false;
    };
    entries.iter().any(|entry| match entry {
        Entry::Field(key, value) => {
            let is_method = key.name().is_some_and(|name| name.text == "method");
            is_method && facts::text(value) == Some("DELETE")
        }
        Entry::Spread(_) => false,
    })
}
