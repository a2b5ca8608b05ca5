//! A function that nothing can reach.
//!
//! Silent where the function may be reached from elsewhere: in a module that marks none of its
//! functions as `pub` all of them are exported; an attribute may register it; and a string with
//! its name may be used to call it. A function that only calls itself is unused.

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "unused-function",
    summary: "A function should be public or called.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    let top_level_counts = ctx.file.has_public_function || ctx.file.is_program();
    for function in &ctx.names.functions {
        let name = function.name.text.as_str();
        let may_be_exported = function.is_top_level && !top_level_counts;
        let is_reachable = function.is_public
            || function.is_tool
            || function.is_registered
            || may_be_exported
            || name.starts_with('_')
            || ctx.names.is_mentioned_outside(name, function.span)
            || ctx.names.is_spelled(name);
        if !is_reachable {
            let message = format!("the function `{name}` is never used");
            out.push(
                RULE.warning(function.name.span, message)
                    .with_help("remove it, make it `pub`, or begin its name with `_`"),
            );
        }
    }
}
