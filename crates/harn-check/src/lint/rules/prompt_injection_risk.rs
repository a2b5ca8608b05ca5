//! Text that strangers can write, mixed with our own instructions in one prompt: the model
//! cannot tell which is which.
//!
//! Looked at are the prompt and the system prompt of model calls, also through variables. What
//! goes through any function on its way counts as taken care of.

use harn_syntax::tree::{Argument, Call};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::Rule;
use crate::lint::taint;

pub(crate) const RULE: Rule = Rule {
    name: "prompt-injection-risk",
    summary: "Text from outside should not be mixed into a prompt.",
    fixable: false,
    on_by_default: true,
};

const MODELS: &[&str] = &[
    "agent_loop",
    "agent_turn",
    "llm_call",
    "llm_call_safe",
    "llm_call_structured",
    "llm_call_structured_result",
    "llm_call_structured_safe",
    "llm_completion",
    "llm_stream",
];

pub(super) fn check(ctx: &Context<'_>, call: &Call, out: &mut Findings) {
    if !MODELS.contains(&call.name.text.as_str()) {
        return;
    }
    for argument in call.arguments.iter().take(2) {
        let Argument::One(prompt) = argument else {
            continue;
        };
        if let Some(source) = taint::mixed(prompt, &ctx.names) {
            let message = format!("what `{source}` returned is mixed into a prompt");
            out.push(
                RULE.warning(prompt.span, message)
                    .with_help("pass it apart from your instructions, for instance as a message of its own, or check it first"),
            );
        }
    }
}
