//! What policies say about tools.

use harn_llm::options::value::{Options, display};
use harn_options::TextPattern;
use serde_json::Value;

use super::tool::{Tool, items, level, text_of};
use super::{Diagnostic, Dict, Facts};
use crate::own_tools;
use crate::policy::{glob_forbids, glob_matches};

/// Tools that the runtime adds by itself.
const ADDED: [&str; 4] = [
    "load_skill",
    "read_archived_messages",
    "__harn_tool_search",
    "agent_await_resumption",
];

pub(super) fn check(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(policy) = facts.policy {
        let constraints = items(policy, "tool_arg_constraints").iter();
        found.extend(
            constraints
                .filter_map(Value::as_object)
                .flat_map(|constraint| check_constraint(constraint, facts)),
        );
    }
    if let Some(approval) = facts.approval {
        let key = "auto_approve";
        let patterns = items(approval, key).iter().map(display);
        found.extend(patterns.filter_map(|pattern| check_approval(key, &pattern, facts)));
        for key in ["auto_deny", "require_approval"] {
            let field = format!("approval_policy.{key}");
            let patterns = items(approval, key).iter().map(display);
            found.extend(patterns.filter_map(|pattern| check_fits(&field, &pattern, facts)));
        }
    }
    let denied = match facts.permissions.and_then(|rules| rules.get("deny")) {
        Some(Value::Array(patterns)) => patterns.iter().map(display).collect(),
        Some(Value::Object(rules)) => rules.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let denied = denied.iter();
    found.extend(denied.filter_map(|pattern| check_fits("permissions.deny", pattern, facts)));
}

/// Whoever denies what is not there, or asks about it, has probably meant something that is.
fn check_fits(field: &str, pattern: &str, facts: &Facts<'_>) -> Option<Diagnostic> {
    let fits = |name: &str| glob_forbids(pattern, name);
    let mut own = own_tools::NAMES.into_iter().chain(ADDED);
    let is_fitting = facts.tools.iter().any(|tool| fits(&tool.name)) || own.any(fits);
    if is_fitting || is_about_every_server(pattern) {
        return None;
    }
    let code = "POLICY_PATTERN_FITS_NOTHING";
    let message = format!("{field} pattern '{pattern}' fits no tool");
    Some(Diagnostic::warning(code, field, message))
}

/// Whether a pattern is about the tools of whatever server there is, as in `*__*`. Servers come
/// and go, and a rule about all of them is meant for the day on which one comes.
fn is_about_every_server(pattern: &str) -> bool {
    let server = pattern.split_once("__").map(|(server, _)| server);
    server.is_some_and(|server| !server.is_empty() && server.chars().all(|one| "*?".contains(one)))
}

fn check_constraint(constraint: &Dict, facts: &Facts<'_>) -> Vec<Diagnostic> {
    let pattern = text_of(constraint, "tool");
    let tools = facts.active_tools();
    let mut meant = tools
        .filter(|tool| glob_matches(&pattern, &tool.name))
        .peekable();
    if meant.peek().is_none() && is_plain(&pattern) {
        let code = "UNKNOWN_ARG_CONSTRAINT_TOOL";
        let message = format!("ToolArgConstraint references tool '{pattern}' which is not active");
        let unknown = Diagnostic::warning(code, "tool_arg_constraints.tool", message);
        return vec![unknown.about(&pattern)];
    }
    let key = text_of(constraint, "arg_key");
    let lacks_key = |tool: &&Tool<'_>| {
        let parameters = tool.parameters;
        !key.is_empty() && parameters.is_some_and(|known| !known.contains_key(&key))
    };
    let unknown = meant.filter(lacks_key).map(|tool| {
        let name = &tool.name;
        let message = format!("ToolArgConstraint for '{name}' targets unknown argument '{key}'");
        let field = format!("tool_arg_constraints.{key}");
        Diagnostic::warning("UNKNOWN_ARG_CONSTRAINT_KEY", &field, message).about(name)
    });
    unknown.collect()
}

fn check_approval(key: &str, pattern: &str, facts: &Facts<'_>) -> Option<Diagnostic> {
    let is_matched = || {
        facts
            .active_tools()
            .any(|tool| glob_matches(pattern, &tool.name))
    };
    if !is_plain(pattern) || is_matched() {
        return None;
    }
    let field = format!("approval_policy.{key}");
    let message = format!("{field} pattern '{pattern}' matches no active tool");
    let code = "APPROVAL_PATTERN_NO_MATCH";
    Some(Diagnostic::warning(code, &field, message))
}

/// Whether a pattern names one tool.
fn is_plain(pattern: &str) -> bool {
    TextPattern::read(pattern).is_ok_and(|pattern| pattern.is_plain())
}

/// Tools that do more than the policy allows.
pub(super) fn check_ceiling(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let ceiling = facts
        .policy
        .and_then(|policy| Options(policy).given("side_effect_level"));
    let Some(ceiling) = ceiling.map(level) else {
        return;
    };
    for tool in facts.active_tools().filter(|tool| tool.level() > ceiling) {
        let (name, level) = (&tool.name, tool.level());
        let message = format!(
            "tool '{name}' requires side-effect level '{level}' but policy ceiling is '{ceiling}'"
        );
        let code = "SIDE_EFFECT_CEILING_EXCEEDED";
        found.push(Diagnostic::error(code, "side_effect_level", message).about(name));
    }
}
