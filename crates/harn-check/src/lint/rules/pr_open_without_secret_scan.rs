//! A pull request shows its content to others, so secrets are looked for before it is opened.
//!
//! `secret_scan` and `self_review` count, and so do functions of the file that call them; they
//! must come earlier in the same body. A function that is itself called `open_pr`,
//! `create_pull_request` and the like may do just that: its callers are looked at instead.

use harn_syntax::Span;
use harn_syntax::tree::{Call, Expression, ExpressionKind, Segment};

use super::Findings;
use crate::lint::facts;
use crate::lint::rule::Rule;
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "pr-open-without-secret-scan",
    summary: "Secrets should be looked for before a pull request is opened.",
    fixable: false,
    on_by_default: true,
};

/// What opening a pull request is called.
pub(crate) const OPENERS: &[&str] = &[
    "create_merge_request",
    "create_pr",
    "create_pull_request",
    "open_merge_request",
    "open_pr",
    "open_pull_request",
];

/// Commands that open one.
const COMMANDS: &[&str] = &["gh pr create", "glab mr create", "hub pull-request"];

pub(super) fn check(place: Place, call: &Call, span: Span, out: &mut Findings) {
    if place.gates.scanned || place.in_opener || !opens(call) {
        return;
    }
    let name = Span {
        start: span.start,
        end: call.name.span.end,
    };
    out.push(
        RULE.warning(
            name,
            "this opens a pull request that was not scanned for secrets",
        )
        .with_help("call `secret_scan` on what it will contain, and stop if it finds any"),
    );
}

fn opens(call: &Call) -> bool {
    let name = call.name.text.as_str();
    let mut arguments = call.arguments.iter().map(|one| one.expression());
    match name {
        "connector_call" | "mcp_call" | "host_call" | "host_tool_call" => {
            arguments.any(names_opener) || posts_pull(call)
        }
        "exec" | "exec_at" | "shell" | "shell_at" => runs_opener(call),
        "api_call" => posts_pull(call),
        _ => OPENERS.contains(&name),
    }
}

/// `"git.open_pr"`
fn names_opener(argument: &Expression) -> bool {
    let last = |text: &str| text.rsplit(['.', '/', ':']).next().map(str::to_owned);
    let last = facts::text(argument).and_then(last);
    last.is_some_and(|last| OPENERS.contains(&last.as_str()))
}

/// `api_call("/repos/o/r/pulls", "POST", …)`
fn posts_pull(call: &Call) -> bool {
    let expressions = || call.arguments.iter().map(|one| one.expression());
    let is_post = |one: &Expression| facts::text(one) == Some("POST");
    expressions().any(is_post) && expressions().any(ends_in_pulls)
}

fn ends_in_pulls(expression: &Expression) -> bool {
    let text = match &expression.kind {
        ExpressionKind::Interpolated(segments) => match segments.last() {
            Some(Segment::Text(text)) => text.as_str(),
            _ => return false,
        },
        _ => facts::text(expression).unwrap_or(""),
    };
    text.trim_end_matches('/').ends_with("/pulls")
}

fn runs_opener(call: &Call) -> bool {
    let mut line = String::new();
    for argument in &call.arguments {
        let expression = argument.expression();
        let segments = match &expression.kind {
            ExpressionKind::Interpolated(segments) => &segments[..],
            _ => &[],
        };
        for segment in segments {
            if let Segment::Text(text) = segment {
                line.push_str(text);
            }
        }
        line.push_str(facts::text(expression).unwrap_or(""));
        line.push(' ');
    }
    COMMANDS.iter().any(|command| line.contains(command))
}
