//! A `var` that is never assigned to could be a `let`.

use std::collections::HashMap;

use harn_syntax::Span;

use super::Findings;
use crate::lint::Context;
use crate::lint::names::{Binding, BindingKind};
use crate::lint::rule::{Rule, replace};

pub(crate) const RULE: Rule = Rule {
    name: "mutable-never-reassigned",
    summary: "A variable that never changes is bound with `let`.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    let mut statements: HashMap<Span, Vec<&Binding>> = HashMap::new();
    for binding in &ctx.names.bindings {
        if let BindingKind::Var(statement) = binding.kind {
            statements.entry(statement).or_default().push(binding);
        }
    }
    for (statement, bindings) in statements {
        if !bindings.iter().any(|binding| may_change(ctx, binding)) {
            report(statement, &bindings, out);
        }
    }
}

fn may_change(ctx: &Context<'_>, binding: &Binding) -> bool {
    binding.is_assigned || binding.is_rebound || ctx.names.is_assigned_elsewhere(&binding.name.text)
}

fn report(statement: Span, bindings: &[&Binding], out: &mut Findings) {
    let names: Vec<String> = bindings
        .iter()
        .map(|binding| format!("`{}`", binding.name.text))
        .collect();
    let names = names.join(", ");
    let word = Span {
        start: statement.start,
        end: statement.start + "var".len() as u32,
    };
    let verb = if bindings.len() == 1 { "is" } else { "are" };
    let message = format!("{names} {verb} never reassigned");
    out.push(
        RULE.warning(bindings[0].name.span, message)
            .with_help("use `let`")
            .with_fix("Use `let`", vec![replace(word, "let")]),
    );
}
