//! What is wrong with the arguments of a function declared in the file.

use harn_syntax::Span;
use harn_syntax::tree::{Argument, Call};

use crate::builtins;
use crate::types::binding::Bindings;
use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::infer::paired;
use crate::types::lower::container_name;
use crate::types::signature::Signature;
use crate::types::ty::Ty;

impl Checker {
    pub(super) fn check_argument_count(&mut self, call: &Call, signature: &Signature, span: Span) {
        let spread = |one: &Argument| matches!(one, Argument::Spread(_));
        let counted = !signature.has_rest()
            && !call.arguments.iter().any(spread)
            && builtins::find(&signature.name).is_none();
        let (required, total) = (signature.required_count(), signature.parameters.len());
        let given = call.arguments.len();
        if !counted || (required..=total).contains(&given) {
            return;
        }
        let expected = if required == total {
            total.to_string()
        } else {
            format!("{required}-{total}")
        };
        let name = &signature.name;
        let message = format!("Function '{name}' expects {expected} arguments, got {given}");
        self.warn(codes::ARGUMENT_COUNT, span, message);
    }

    /// Conflicts of generic binding, then the types of the arguments, then bounds.
    pub(super) fn check_argument_types(&mut self, call: &Call, signature: &Signature, span: Span) {
        let (bindings, conflicts) = self.bind_call(call, signature);
        for (at, conflict) in &conflicts {
            let place = call.arguments[*at].expression().span;
            let code = codes::TYPE_PARAMETER_CONFLICT;
            self.error(code, place, conflict.message());
        }
        for (at, (argument, parameter)) in paired(call, signature).enumerate() {
            let argument = argument.expression();
            let reported = conflicts.iter().any(|(place, _)| *place == at);
            let Some(expected) = parameter.ty.as_ref().filter(|_| !reported) else {
                continue;
            };
            let actual = self.infer(argument);
            if self.accepts_schema(expected, &actual)
                || self
                    .known
                    .compatible(&actual, &bindings.apply_all(expected))
            {
                continue;
            }
            let expected = bindings.apply(expected);
            let (number, name) = (at + 1, &parameter.name);
            let message =
                format!("Argument {number} ('{name}'): expected {expected}, got {actual}");
            self.error(codes::ARGUMENT_TYPE, argument.span, message);
        }
        self.check_bounds(signature, &bindings, span);
    }

    /// A schema is a dict, whatever it describes.
    fn accepts_schema(&self, expected: &Ty, actual: &Ty) -> bool {
        expected.head().is_some_and(|name| name == "Schema")
            && self.known.compatible(actual, &Ty::DICT)
    }

    fn check_bounds(&mut self, signature: &Signature, bindings: &Bindings, span: Span) {
        for (parameter, interface) in &signature.bounds {
            let Some(bound) = bindings.get(parameter) else {
                continue;
            };
            let Err(reason) = self.satisfies_bound(bound, interface) else {
                continue;
            };
            let message = format!(
                "Type '{bound}' does not satisfy interface '{interface}': {reason} (required by \
                 constraint `where {parameter}: {interface}`)"
            );
            self.error(codes::UNSATISFIED_BOUND, span, message);
        }
    }

    fn satisfies_bound(&self, bound: &Ty, interface: &str) -> Result<(), String> {
        let free = bound.is_unknown_part()
            || *bound == Ty::Never
            || *bound == Ty::ANY
            || self.known.is_parameter(bound);
        if free {
            return Ok(());
        }
        let resolved = self.known.resolve(bound);
        let named = match &resolved {
            Ty::Dynamic => return Ok(()),
            Ty::Named(_) => true,
            Ty::Applied(applied) => container_name(&applied.name).is_none(),
            _ => false,
        };
        if !named {
            return Err("only named types can satisfy interfaces".to_owned());
        }
        self.known
            .satisfies(&resolved, &Ty::Named(interface.into()))
    }
}
