//! A person was asked, and nobody looks at the answer.
//!
//! `request_approval` and `request_plan_approval` throw when the answer is no, so inside a
//! `try` they may stand alone. `let _ = …` says that the answer is not needed.

use harn_syntax::Span;
use harn_syntax::tree::Expression;

use super::Findings;
use crate::lint::Context;
use crate::lint::facts;
use crate::lint::names::BindingKind;
use crate::lint::rule::Rule;
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "unhandled-approval-result",
    summary: "Whoever asks a person should look at the answer.",
    fixable: false,
    on_by_default: true,
};

const QUESTIONS: &[&str] = &[
    "ask_user",
    "escalate_to",
    "request_approval",
    "request_plan_approval",
];

/// A question whose answer is dropped.
pub(super) fn discarded(
    ctx: &Context<'_>,
    place: Place,
    expression: &Expression,
    out: &mut Findings,
) {
    let Some(call) = facts::call(expression) else {
        return;
    };
    let name = call.name.text.as_str();
    if is_question(ctx, name) && !place.in_try {
        report(name, call.name.span, "dropped", out);
    }
}

/// An answer that is kept and never read.
pub(super) fn bindings(ctx: &Context<'_>, out: &mut Findings) {
    for binding in &ctx.names.bindings {
        let is_variable = matches!(binding.kind, BindingKind::Let | BindingKind::Var(_));
        let is_ignored = binding.uses.is_empty() && !binding.name.text.starts_with('_');
        if let Some(made_by) = &binding.made_by
            && is_variable
            && binding.is_whole
            && is_ignored
            && is_question(ctx, made_by)
        {
            report(made_by, binding.name.span, "never read", out);
        }
    }
}

fn is_question(ctx: &Context<'_>, name: &str) -> bool {
    QUESTIONS.contains(&name) && !ctx.names.declares(name)
}

fn report(question: &str, span: Span, fate: &str, out: &mut Findings) {
    let message = format!("the answer to `{question}` is {fate}");
    out.push(
        RULE.warning(span, message)
            .with_help("use the answer, catch a refusal with `try`, or write `let _ = …`"),
    );
}
