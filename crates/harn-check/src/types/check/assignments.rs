//! What is wrong with bindings and assignments.

use harn_syntax::Span;
use harn_syntax::tree::{
    Assignment, Binding, ExpressionKind, Name, PatternKind, Postfix, SuffixKind,
};

use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::environment::{Found, State, Variable};
use crate::types::infer::operation;
use crate::types::ty::{Shape, Ty};

impl Checker {
    pub(super) fn check_binding(&mut self, binding: &Binding, span: Span) {
        self.check(&binding.value);
        let PatternKind::Name(name) = &binding.pattern.kind else {
            self.declare_pattern(&binding.pattern, binding.mutable);
            return;
        };
        let actual = self.infer(&binding.value);
        let declared = binding.ty.as_ref().map(Ty::from);
        if let Some(expected) = &declared
            && !self.known.compatible(&actual, expected)
        {
            let detail = self.shape_detail(&actual, expected);
            let name = &name.text;
            let message = format!("'{name}' declared as {expected}, but assigned {actual}{detail}");
            self.error(codes::BINDING_TYPE, span, message);
        }
        let awaits_type = binding.mutable && declared.is_none() && actual == Ty::NIL;
        let unvalidated = self.unvalidated_source(&binding.value, declared.as_ref());
        let ty = declared.unwrap_or(actual);
        self.note_type(name.span, &ty);
        let variable = Variable {
            mutable: binding.mutable,
            schema: self.schema_type(&binding.value),
            state: State {
                awaits_type,
                unvalidated,
                ..State::of(ty)
            },
        };
        self.environment.declare(name.text.clone(), variable);
    }

    /// In what a shape differs from the one that is expected, in parentheses.
    fn shape_detail(&self, actual: &Ty, expected: &Ty) -> String {
        let (actual, expected) = (self.known.resolve(actual), self.known.resolve(expected));
        let (Ty::Shape(actual), Ty::Shape(expected)) = (actual, expected) else {
            return String::new();
        };
        let parts = self.shape_differences(&actual, &expected);
        if parts.is_empty() {
            return String::new();
        }
        format!(" ({})", parts.join("; "))
    }

    fn shape_differences(&self, actual: &Shape, expected: &Shape) -> Vec<String> {
        let needed = expected.fields.iter().filter(|field| !field.optional);
        let differences = needed.filter_map(|wanted| {
            let name = &wanted.name;
            let expected = &wanted.ty;
            match actual.field(name) {
                None => Some(format!("missing field '{name}' ({expected})")),
                Some(field) if self.known.compatible(&field.ty, expected) => None,
                Some(field) => Some(format!(
                    "field '{name}' has type {}, expected {expected}",
                    field.ty
                )),
            }
        });
        differences.collect()
    }

    pub(super) fn check_assignment(&mut self, assignment: &Assignment, span: Span) {
        match &assignment.target.kind {
            ExpressionKind::Name(name) => {
                self.check(&assignment.value);
                self.check_assigned(name, assignment, span);
            }
            ExpressionKind::Postfix(postfix) => {
                self.check_target(postfix);
                self.check(&assignment.value);
            }
            _ => self.check(&assignment.value),
        }
    }

    /// Checks what a path consists of. Its last part is not read, so nothing is said about
    /// the path as a whole.
    fn check_target(&mut self, target: &Postfix) {
        self.check(&target.base);
        for suffix in &target.suffixes {
            match &suffix.kind {
                SuffixKind::Index { index, .. } => self.check(index),
                SuffixKind::Method { arguments, .. } => self.check_arguments(arguments),
                SuffixKind::Slice { start, end } => {
                    start.iter().chain(end).for_each(|bound| self.check(bound));
                }
                SuffixKind::Member { .. } | SuffixKind::Try => {}
            }
        }
    }

    fn check_assigned(&mut self, name: &Name, assignment: &Assignment, span: Span) {
        let value = self.infer(&assignment.value);
        let (mutable, known) = match self.environment.find(&name.text) {
            Some(Found::Variable(at, variable)) => {
                (variable.mutable, Some((at, variable.state.clone())))
            }
            Some(Found::Outer(variable)) => (variable.mutable, None),
            Some(Found::Function(_)) | None => return,
        };
        if !mutable {
            let name = &name.text;
            let message =
                format!("Cannot assign to '{name}': variable is immutable (declared with 'let')");
            self.warn(codes::IMMUTABLE_ASSIGNMENT, span, message);
        }
        let Some((at, state)) = known else {
            return;
        };
        let actual = match assignment.op {
            Some(op) => operation(op, &state.current, &value),
            None => value,
        };
        let unvalidated = self.unvalidated_source(&assignment.value, None);
        let after = self.assigned_state(&name.text, &actual, state, span);
        let after = State {
            unvalidated,
            ..after
        };
        self.environment.set_state(at, after);
    }

    /// What is known about a variable once it has been assigned a value of that type.
    fn assigned_state(&mut self, name: &str, actual: &Ty, state: State, span: Span) -> State {
        if state.awaits_type {
            return if actual.is_unknown_part() || matches!(actual, Ty::Never) || *actual == Ty::NIL
            {
                State {
                    awaits_type: true,
                    ..State::of(state.declared)
                }
            } else {
                State::of(Ty::merged([actual.clone(), Ty::NIL]))
            };
        }
        let declared = state.declared;
        if !self.known.compatible(actual, &declared) {
            let message = format!("can't assign {actual} to '{name}' (declared as {declared})");
            self.error(codes::ASSIGNMENT_TYPE, span, message);
        }
        State::of(declared)
    }
}
