//! A parameter of a function or a tool that its body never mentions.
//!
//! Closures and methods take what they are given; so does a function that is used as a value,
//! one with an attribute, and one whose body is empty.

use super::Findings;
use crate::lint::Context;
use crate::lint::names::{BindingKind, FunctionFacts};
use crate::lint::rule::{Rule, insert};

pub(crate) const RULE: Rule = Rule {
    name: "unused-parameter",
    summary: "A parameter should be used, or begin with `_`.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    for binding in &ctx.names.bindings {
        let BindingKind::Parameter(at) = binding.kind else {
            continue;
        };
        let name = &binding.name;
        let function = &ctx.names.functions[at];
        let is_used = !binding.uses.is_empty() || binding.is_assigned || binding.is_rebound;
        if is_used || name.text.starts_with('_') || takes_what_it_gets(ctx, function) {
            continue;
        }
        let message = format!("the parameter `{}` is never used", name.text);
        let finding = RULE
            .warning(name.span, message)
            .with_help("remove it, or begin its name with `_`");
        // The parameters of a tool are what the model sees of it.
        out.push(match function.is_tool {
            true => finding,
            false => {
                let edits = vec![insert(name.span.start, "_")];
                finding.with_fix("Begin its name with `_`", edits)
            }
        });
    }
}

fn takes_what_it_gets(ctx: &Context<'_>, function: &FunctionFacts) -> bool {
    function.is_registered
        || function.is_empty
        || (!function.is_tool && ctx.names.is_value(&function.name.text))
        || (!function.is_tool && ctx.names.is_spelled(&function.name.text))
}
