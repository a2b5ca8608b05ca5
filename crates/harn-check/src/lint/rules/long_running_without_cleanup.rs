//! Something was started or opened that goes on until it is stopped, and nothing stops it.
//!
//! Silent as soon as the handle goes anywhere but into builtins: it may be returned, stored or
//! given to a function that takes care of it.

use harn_syntax::Span;
use harn_syntax::tree::Expression;

use super::Findings;
use crate::lint::Context;
use crate::lint::facts;
use crate::lint::names::{Binding, BindingKind};
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "long-running-without-cleanup",
    summary: "Whatever is started should be stopped.",
    fixable: false,
    on_by_default: true,
};

/// What starts something, and what stops it again.
const PAIRS: &[(&str, &[&str])] = &[
    ("daemon_spawn", &["daemon_stop"]),
    ("http_session", &["http_session_close"]),
    ("http_stream_open", &["http_stream_close"]),
    ("mailbox_open", &["mailbox_close"]),
    ("mcp_connect", &["mcp_disconnect"]),
    ("pg_connect", &["pg_close"]),
    ("spawn_agent", &["close_agent", "wait_agent"]),
    ("sse_connect", &["sse_close"]),
    ("supervisor_start", &["supervisor_stop"]),
    ("sync_gate_acquire", &["sync_release"]),
    ("sync_mutex_acquire", &["sync_release"]),
    ("sync_rwlock_acquire", &["sync_release"]),
    ("sync_semaphore_acquire", &["sync_release"]),
    ("websocket_connect", &["websocket_close"]),
];

/// A handle that nobody keeps can never be given back.
pub(super) fn discarded(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let Some(call) = facts::call(expression) else {
        return;
    };
    let name = call.name.text.as_str();
    if let Some(stops) = stops(ctx, name) {
        report(name, stops, call.name.span, out);
    }
}

/// A handle that is kept, but never given back.
pub(super) fn bindings(ctx: &Context<'_>, out: &mut Findings) {
    for binding in &ctx.names.bindings {
        let Some((made_by, stops)) = handle(ctx, binding) else {
            continue;
        };
        let is_kept_in = |callee: &str| ctx.names.is_builtin(callee) && !stops.contains(&callee);
        let is_stuck = binding
            .uses
            .iter()
            .all(|one| one.passed_to.as_deref().is_some_and(is_kept_in));
        if is_stuck {
            report(made_by, stops, binding.name.span, out);
        }
    }
}

/// What made a variable, and what stops that.
fn handle<'a>(
    ctx: &Context<'_>,
    binding: &'a Binding,
) -> Option<(&'a str, &'static [&'static str])> {
    let is_variable = matches!(binding.kind, BindingKind::Let | BindingKind::Var(_));
    let made_by = binding.made_by.as_deref()?;
    let stops = stops(ctx, made_by)?;
    let counts = is_variable && binding.is_whole && !binding.is_assigned;
    counts.then_some((made_by, stops))
}

fn stops(ctx: &Context<'_>, name: &str) -> Option<&'static [&'static str]> {
    let pair = PAIRS.iter().find(|(start, _)| *start == name);
    pair.filter(|_| ctx.names.is_builtin(name))
        .map(|(_, stops)| *stops)
}

fn report(name: &str, stops: &[&str], span: Span, out: &mut Findings) {
    let message = format!("what `{name}` starts here is never stopped");
    let stops: Vec<String> = stops.iter().map(|stop| format!("`{stop}`")).collect();
    let help = format!(
        "give the handle to {}, for instance in a `defer`",
        stops.join(" or ")
    );
    out.push(RULE.warning(span, message).with_help(help));
}
