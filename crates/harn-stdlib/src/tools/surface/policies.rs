//! What policies say about tools.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::{Level, Report, Surface, as_dict, matches};
use crate::registries::{given, text_of};

const APPROVALS: [&str; 3] = ["auto_approve", "auto_deny", "require_approval"];

pub(super) fn check(surface: &Surface<'_>, report: &mut Report) {
    let constraints = surface
        .policy
        .map(|policy| items(policy, "tool_arg_constraints"));
    for constraint in constraints.into_iter().flatten().filter_map(as_dict) {
        check_constraint(constraint, surface, report);
    }
    let Some(approval) = surface.approval else {
        return;
    };
    for key in APPROVALS {
        for pattern in items(approval, key) {
            check_approval(key, &pattern.to_text(), surface, report);
        }
    }
}

fn check_constraint(constraint: &Dict, surface: &Surface<'_>, report: &mut Report) {
    let tool = text_of(constraint, "tool");
    if tool.contains('*') {
        return;
    }
    let Some(at) = surface.active.get(&tool) else {
        let code = "UNKNOWN_ARG_CONSTRAINT_TOOL";
        let message = format!("ToolArgConstraint references tool '{tool}' which is not active");
        report.warn(code, Some(&tool), "tool_arg_constraints.tool", message);
        return;
    };
    let key = text_of(constraint, "arg_key");
    let parameters = surface.tools[*at].parameters;
    if !key.is_empty() && parameters.is_some_and(|known| !known.contains(&key)) {
        let message = format!("ToolArgConstraint for '{tool}' targets unknown argument '{key}'");
        let field = format!("tool_arg_constraints.{key}");
        report.warn("UNKNOWN_ARG_CONSTRAINT_KEY", Some(&tool), &field, message);
    }
}

fn check_approval(key: &str, pattern: &Text, surface: &Surface<'_>, report: &mut Report) {
    if pattern.contains('*')
        || surface
            .active_tools()
            .any(|tool| matches(pattern, &tool.name))
    {
        return;
    }
    let field = format!("approval_policy.{key}");
    let message = format!("{field} pattern '{pattern}' matches no active tool");
    report.warn("APPROVAL_PATTERN_NO_MATCH", None, &field, message);
}

/// Tools that do more than the policy allows.
pub(super) fn check_ceiling(surface: &Surface<'_>, report: &mut Report) {
    let ceiling = surface
        .policy
        .and_then(|policy| given(policy, "side_effect_level"));
    let Some(ceiling) = ceiling.map(Level::of) else {
        return;
    };
    for tool in surface.active_tools().filter(|tool| tool.level() > ceiling) {
        let (name, level) = (&tool.name, tool.level().name());
        let message = format!(
            "tool '{name}' requires side-effect level '{level}' but policy ceiling is '{}'",
            ceiling.name()
        );
        let code = "SIDE_EFFECT_CEILING_EXCEEDED";
        report.error(code, name, "side_effect_level", message);
    }
}

fn items<'a>(policy: &'a Dict, key: &str) -> &'a [Value] {
    match policy.get(key) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}
