//! What policies say about tools.

use harn_llm::options::value::{Options, display};
use serde_json::Value;

use super::tool::{Tool, items, level, text_of};
use super::{Diagnostic, Dict, Facts};
use crate::policy::glob_matches;

const APPROVALS: [&str; 3] = ["auto_approve", "auto_deny", "require_approval"];

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
        for key in APPROVALS {
            let patterns = items(approval, key).iter().map(display);
            found.extend(patterns.filter_map(|pattern| check_approval(key, &pattern, facts)));
        }
    }
}

fn check_constraint(constraint: &Dict, facts: &Facts<'_>) -> Vec<Diagnostic> {
    let pattern = text_of(constraint, "tool");
    let tools = facts.active_tools();
    let mut meant = tools
        .filter(|tool| glob_matches(&pattern, &tool.name))
        .peekable();
    if meant.peek().is_none() && !pattern.contains('*') {
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
    if pattern.contains('*') || is_matched() {
        return None;
    }
    let field = format!("approval_policy.{key}");
    let message = format!("{field} pattern '{pattern}' matches no active tool");
    let code = "APPROVAL_PATTERN_NO_MATCH";
    Some(Diagnostic::warning(code, &field, message))
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
