//! A field of data whose shape nobody has checked: what `json_parse` and the like return.
//!
//! Silent where the access expects that the field may be missing (`?.`, `?[`, `??`, `.get`),
//! where the variable has a type that says what is inside, and where it is given to a function
//! that looks at its shape (`schema_expect`, `is_type`, …) anywhere in the file.

use harn_syntax::tree::{Expression, ExpressionKind, SuffixKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::names::Binding;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "untyped-dict-access",
    summary: "Data from outside should be checked before its fields are read.",
    fixable: false,
    on_by_default: true,
};

/// What returns data of any shape.
const SOURCES: &[&str] = &[
    "connector_call",
    "host_call",
    "host_tool_call",
    "json_extract",
    "json_parse",
    "mcp_call",
    "toml_parse",
    "yaml_parse",
];

/// What looks at the shape of a value.
const CHECKS: &[&str] = &[
    "is_type",
    "json_validate",
    "schema_check",
    "schema_expect",
    "schema_is",
    "schema_parse",
    "type_of",
];

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Postfix(postfix) = &expression.kind else {
        return;
    };
    let Some(suffix) = postfix.suffixes.first() else {
        return;
    };
    let is_access = matches!(
        suffix.kind,
        SuffixKind::Member {
            optional: false,
            ..
        } | SuffixKind::Index {
            optional: false,
            ..
        }
    );
    let Some(source) = source(ctx, &postfix.base) else {
        return;
    };
    if is_access {
        let message = format!("this reads a field of what `{source}` returned, unchecked");
        let help = "check it with `schema_expect`, declare its type, or use `?.` and `??`";
        out.push(RULE.warning(suffix.span, message).with_help(help));
    }
}

/// The function whose unchecked result a value is.
fn source<'t>(ctx: &'t Context<'_>, base: &'t Expression) -> Option<&'t str> {
    let name = match &base.kind {
        ExpressionKind::Call(call) => call.name.text.as_str(),
        ExpressionKind::Name(name) => {
            let variable = ctx.names.variable(name)?;
            let is_raw = variable.is_whole && !variable.is_typed && !is_checked(variable);
            is_raw.then_some(variable.made_by.as_deref())??
        }
        _ => return None,
    };
    (SOURCES.contains(&name) && ctx.names.is_builtin(name)).then_some(name)
}

fn is_checked(variable: &Binding) -> bool {
    let passed = variable
        .uses
        .iter()
        .filter_map(|one| one.passed_to.as_deref());
    let mut checks = passed.filter(|name| CHECKS.contains(name));
    variable.is_assigned || checks.next().is_some()
}
