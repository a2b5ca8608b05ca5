//! What is wrong with what is called.

use std::rc::Rc;

use harn_syntax::tree::{Argument, Call, ExpressionKind};
use harn_syntax::{Diagnostic, Edit, Span};
use smol_str::SmolStr;

use crate::builtins;
use crate::types::checker::{Checker, Misspelt};
use crate::types::codes;
use crate::types::environment::Found;
use crate::types::infer::type_parameter_count;
use crate::types::narrow::{KINDS, variable_name};
use crate::types::signature::Signature;
use crate::types::ty::Ty;

impl Checker {
    pub(super) fn check_call(&mut self, call: &Call, span: Span) {
        match self.environment.find(&call.name.text) {
            Some(Found::Function(signature)) => {
                let signature = Rc::clone(signature);
                self.note_type_with(call.name.span, |_| signature.as_type());
                self.check_user_call(call, &signature, span);
            }
            Some(Found::Variable(..) | Found::Outer(_)) => {}
            None => self.check_global_call(call, span),
        }
        self.check_arguments(&call.arguments);
        self.check_validation(call);
    }

    fn check_user_call(&mut self, call: &Call, signature: &Signature, span: Span) {
        self.check_deprecated(call, signature);
        self.check_argument_count(call, signature, span);
        self.check_type_arguments(call, signature, span);
        self.check_argument_types(call, signature, span);
        if signature.result == Some(Ty::Never) {
            self.check_narrowed(&format!("{}()", signature.name), span);
        }
    }

    fn check_deprecated(&mut self, call: &Call, signature: &Signature) {
        let Some(deprecated) = &signature.deprecated else {
            return;
        };
        let name = &signature.name;
        let mut message = format!("`{name}` is deprecated");
        if let Some(since) = &deprecated.since {
            message += &format!(" (since {since})");
        }
        let mut warning = Diagnostic::warning(codes::DEPRECATED, call.name.span, message);
        if let Some(instead) = &deprecated.instead {
            warning = warning.with_help(format!("use `{instead}` instead"));
            if is_identifier(instead) {
                warning = warning.with_fix(
                    format!("Call `{instead}`"),
                    vec![Edit {
                        span: call.name.span,
                        text: instead.to_string(),
                    }],
                );
            }
        }
        self.say(warning);
    }

    fn check_type_arguments(&mut self, call: &Call, signature: &Signature, span: Span) {
        let (given, declared) = (call.type_arguments.len(), signature.type_parameters.len());
        if let Some(problem) = type_argument_problem(given, declared) {
            let message = format!("Function '{}' {problem}", call.name.text);
            self.error(codes::TYPE_ARGUMENTS, span, message);
        }
    }

    /// A call of something that is no function in scope.
    fn check_global_call(&mut self, call: &Call, span: Span) {
        let name = &call.name.text;
        if !self.is_callable(name) {
            self.report_undefined(call);
            return;
        }
        let declarations = &self.known.declarations;
        let hidden = declarations.callable.contains(name) || declarations.imported.contains(name);
        if hidden {
            return;
        }
        self.check_options(call);
        if builtins::find(name).is_none() {
            return;
        }
        let (given, declared) = (call.type_arguments.len(), type_parameter_count(name));
        if let Some(problem) = type_argument_problem(given, declared) {
            let message = format!("Builtin function '{name}' {problem}");
            self.error(codes::TYPE_ARGUMENTS, span, message);
        }
        if name == "unreachable" {
            self.check_unreachable(call, span);
            self.check_narrowed("unreachable()", span);
        }
    }

    fn is_callable(&self, name: &SmolStr) -> bool {
        let declarations = &self.known.declarations;
        declarations.unresolved
            // A builtin that exists can be called, also one that Appendix B forgets.
            || builtins::find_any(name).is_some()
            || declarations.callable.contains(name)
            || declarations.imported.contains(name)
            || self.known.type_parameters.contains_key(name)
            || name.starts_with("__")
            || name.starts_with("hostlib_")
            || matches!(name.as_str(), "Ok" | "Err" | "Some" | "None" | "_")
    }

    fn report_undefined(&mut self, call: &Call) {
        let name = &call.name.text;
        let mut message = format!("call target `{name}` is not defined or imported");
        let suggestion = self.suggest(Misspelt::Call, name);
        if let Some(suggestion) = &suggestion {
            message += &format!(" — did you mean `{suggestion}`?");
        }
        let mut error = Diagnostic::error(codes::UNDEFINED_CALL, call.name.span, message);
        if let Some(suggestion) = suggestion {
            let edit = Edit {
                span: call.name.span,
                text: suggestion.to_string(),
            };
            error = error.with_fix(format!("Call `{suggestion}`"), vec![edit]);
        }
        self.say(error);
    }

    /// `unreachable(x)` claims that x can not exist any more.
    fn check_unreachable(&mut self, call: &Call, span: Span) {
        let Some(Argument::One(argument)) = call.arguments.first() else {
            return;
        };
        let ExpressionKind::Name(_) = &argument.kind else {
            return;
        };
        let is_variable =
            variable_name(argument).is_some_and(|name| self.environment.variable(name).is_some());
        if !is_variable {
            return;
        }
        let ty = self.infer(argument);
        if !ty.is_unknown_part() && ty != Ty::Never {
            let message =
                format!("unreachable() argument has type `{ty}` — not all cases are handled");
            self.error(codes::UNREACHABLE_ARGUMENT, span, message);
        }
    }

    /// A place that should only be reached once every kind of an `unknown` value was dealt
    /// with.
    pub(super) fn check_narrowed(&mut self, site: &str, span: Span) {
        for (name, ruled_out) in self.environment.partly_narrowed() {
            let left = KINDS.iter().enumerate();
            let left = left.filter(|(at, _)| ruled_out & (1 << at) == 0);
            let left: Vec<&str> = left.map(|(_, kind)| *kind).collect();
            if left.is_empty() {
                continue;
            }
            let message = format!(
                "`{site}` reached but `{name}: unknown` was not fully narrowed — uncovered \
                 concrete type(s): {}",
                left.join(", ")
            );
            self.warn(codes::PARTLY_NARROWED, span, message);
        }
    }
}

/// What is wrong with so many type arguments for so many type parameters.
fn type_argument_problem(given: usize, declared: usize) -> Option<String> {
    match (given, declared) {
        (0, _) => None,
        (_, 0) => Some("does not declare type parameters".to_owned()),
        _ if given == declared => None,
        _ => Some(format!("expects {declared} type arguments, got {given}")),
    }
}

fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters
        .next()
        .is_some_and(|one| one.is_alphabetic() || one == '_');
    first && characters.all(|one| one.is_alphanumeric() || one == '_')
}
