//! A struct, enum, alias or interface that nothing mentions.
//!
//! Aliases and interfaces are exported by every module, so they count only in programs.

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "unused-type",
    summary: "A type should be public or used.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    let is_program = ctx.file.is_program() && !ctx.file.has_public;
    let says_what_is_public = ctx.file.has_public || ctx.file.is_program();
    for ty in &ctx.names.types {
        let name = ty.name.text.as_str();
        let counts = match ty.is_always_exported {
            true => is_program,
            false => says_what_is_public,
        };
        let is_used = ty.is_public
            || name.starts_with('_')
            || ctx.names.is_mentioned_outside(name, ty.span)
            || ctx.names.is_spelled(name);
        if counts && !is_used {
            let message = format!("the type `{name}` is never used");
            out.push(
                RULE.warning(ty.name.span, message)
                    .with_help("remove it, or make it `pub` if it is a struct or an enum"),
            );
        }
    }
}
