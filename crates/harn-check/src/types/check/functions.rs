//! What is wrong with functions.

use harn_syntax::Span;
use harn_syntax::tree::{Block, Function, FunctionKind, Name, Parameter};
use smol_str::SmolStr;

use crate::types::checker::{Body, Checker};
use crate::types::codes;
use crate::types::environment::Variable;
use crate::types::lower::container_name;
use crate::types::signature::parameter_names;
use crate::types::ty::Ty;

impl Checker {
    /// Checks a function; `around` are the type parameters of what it belongs to.
    pub(super) fn check_function(&mut self, function: &Function, around: &[SmolStr], span: Span) {
        let result = function.result.as_ref().map(Ty::from);
        let body = match function.kind {
            FunctionKind::Plain => Body::Function,
            FunctionKind::Stream => Body::Stream(self.emitted_type(result.as_ref(), span)),
        };
        let own = parameter_names(&function.type_parameters);
        let bounds = function.bounds.iter();
        let bounds = bounds.map(|one| (one.parameter.text.clone(), one.interface.text.clone()));
        let parameters: Vec<SmolStr> = around.iter().cloned().chain(own).collect();
        // What a generator returns is discarded.
        let returned = result.filter(|_| body == Body::Function && !function.body.yields);
        self.with_type_parameters(parameters, bounds.collect::<Vec<_>>(), |checker| {
            let barrier = checker.environment.enter_body();
            let declared = Declared::Typed(&function.parameters);
            checker.check_callable(declared, &function.body, returned, body);
            checker.environment.leave_body(barrier);
        });
    }

    /// Checks a body with its parameters, and then what it returns.
    pub(super) fn check_callable(
        &mut self,
        parameters: Declared<'_>,
        block: &Block,
        result: Option<Ty>,
        body: Body,
    ) {
        self.in_body(body.clone(), |checker| {
            match parameters {
                Declared::Typed(parameters) => checker.declare_parameters(parameters),
                Declared::Names(names) => checker.declare_names(names),
            }
            checker.check_body(block);
        });
        if let Some(expected) = result {
            self.in_body(body, |checker| {
                match parameters {
                    Declared::Typed(parameters) => {
                        for parameter in parameters {
                            checker.declare_parameter(parameter);
                        }
                    }
                    Declared::Names(names) => checker.declare_names(names),
                }
                checker.check_returns(block, &expected);
            });
        }
    }

    fn declare_names(&mut self, names: &[Name]) {
        for name in names {
            self.declare_typed(name, Ty::Dynamic);
        }
    }

    /// Declares parameters in order, each default seeing those before it.
    pub(super) fn declare_parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            if let Some(default) = &parameter.default {
                self.check(default);
            }
            let ty = self.declare_parameter(parameter);
            self.note_type(parameter.name.span, &ty);
        }
    }

    fn declare_parameter(&mut self, parameter: &Parameter) -> Ty {
        let declared = parameter.ty.as_ref().filter(|_| !parameter.rest);
        let ty = declared.map_or(Ty::Dynamic, Ty::from);
        let variable = Variable::of(ty.clone());
        self.environment
            .declare(parameter.name.text.clone(), variable);
        ty
    }

    /// What a `gen fn` with that result emits.
    fn emitted_type(&mut self, result: Option<&Ty>, span: Span) -> Option<Ty> {
        let declared = result?;
        let resolved = self.known.resolve(declared);
        if let Some([emitted]) = resolved.arguments_of("Stream") {
            return Some(emitted.clone());
        }
        let bare = resolved.name().and_then(|name| container_name(name));
        if bare != Some("Stream") && resolved != Ty::Dynamic {
            let message = format!("`gen fn` must return Stream<T>, got {declared}");
            self.error(codes::STREAM_RESULT, span, message);
        }
        None
    }
}

/// The parameters of a body.
#[derive(Clone, Copy)]
pub(super) enum Declared<'a> {
    /// Those of a function or a tool.
    Typed(&'a [Parameter]),
    /// Those of a pipeline.
    Names(&'a [Name]),
}
