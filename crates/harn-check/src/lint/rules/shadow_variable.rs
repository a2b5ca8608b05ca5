//! A variable that hides one of the same name from an outer scope of the same body.
//!
//! A named function is a world of its own: its parameters and variables may be called like
//! variables of the file. A name that begins with `_` may hide anything.

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "shadow-variable",
    summary: "A variable should not hide another one.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    for binding in &ctx.names.bindings {
        let Some(hidden) = binding.shadows else {
            continue;
        };
        if !binding.name.text.starts_with('_') {
            let message = format!("`{}` hides a variable of the same name", binding.name.text);
            out.push(
                RULE.warning(binding.name.span, message)
                    .with_secondary(hidden, "the variable it hides")
                    .with_help("give one of them another name"),
            );
        }
    }
}
