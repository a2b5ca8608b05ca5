//! What calls give.

use std::rc::Rc;

use harn_syntax::tree::{Argument, Call};

use super::blocks::result_of;
use crate::types::binding::{Bindings, Conflict};
use crate::types::checker::Checker;
use crate::types::environment::Found;
use crate::types::signature::{ParameterTy, Signature};
use crate::types::ty::Ty;

impl Checker {
    pub(super) fn infer_call(&mut self, call: &Call) -> Ty {
        let name = &call.name.text;
        match self.environment.find(name) {
            Some(Found::Function(signature)) => {
                let signature = Rc::clone(signature);
                return self.infer_user_call(call, &signature);
            }
            Some(Found::Variable(..) | Found::Outer(_)) => return Ty::Dynamic,
            None => {}
        }
        let declarations = &self.known.declarations;
        if let Some(declared) = declarations.structs.get(name) {
            let unknown = vec![Ty::Wildcard; declared.parameters.len()];
            return Ty::applied(name.clone(), unknown);
        }
        if declarations.imported.contains(name) {
            return Ty::Dynamic;
        }
        match name.as_str() {
            "Ok" => result_of(self.infer_first(&call.arguments), Ty::Wildcard),
            "Err" => result_of(Ty::Wildcard, self.infer_first(&call.arguments)),
            _ => self.infer_builtin(call),
        }
    }

    fn infer_user_call(&mut self, call: &Call, signature: &Signature) -> Ty {
        let Some(result) = &signature.result else {
            return signature.lazy_result.clone().unwrap_or(Ty::Dynamic);
        };
        if signature.type_parameters.is_empty() {
            return result.clone().as_whole();
        }
        let (bindings, _) = self.bind_call(call, signature);
        bindings.apply_all(result).as_whole()
    }

    /// What the type parameters of a call stand for, and the arguments that contradict it.
    pub(in crate::types) fn bind_call(
        &mut self,
        call: &Call,
        signature: &Signature,
    ) -> (Bindings, Vec<(usize, Conflict)>) {
        let mut bindings = Bindings::of(&signature.type_parameters);
        for (at, argument) in call.type_arguments.iter().enumerate() {
            bindings.give(at, Ty::from(argument));
        }
        let mut conflicts = Vec::new();
        if signature.type_parameters.is_empty() {
            return (bindings, conflicts);
        }
        for (at, (argument, parameter)) in paired(call, signature).enumerate() {
            let Some(expected) = &parameter.ty else {
                continue;
            };
            let bound = self.bind_argument(&mut bindings, expected, argument);
            conflicts.extend(bound.err().map(|conflict| (at, conflict)));
        }
        (bindings, conflicts)
    }

    fn bind_argument(
        &mut self,
        bindings: &mut Bindings,
        expected: &Ty,
        argument: &Argument,
    ) -> Result<(), Conflict> {
        let argument = argument.expression();
        if let Some([described]) = expected.arguments_of("Schema")
            && let Some(schema) = self.schema_type(argument)
        {
            return self.known.bind(bindings, described, &schema);
        }
        let actual = self.infer(argument);
        self.known.bind(bindings, expected, &actual)
    }
}

/// The arguments whose parameter is known: those before the first spread and before a rest
/// parameter.
pub(in crate::types) fn paired<'a>(
    call: &'a Call,
    signature: &'a Signature,
) -> impl Iterator<Item = (&'a Argument, &'a ParameterTy)> {
    let arguments = call.arguments.iter();
    let arguments = arguments.take_while(|argument| matches!(argument, Argument::One(_)));
    let parameters = signature.parameters.iter();
    arguments.zip(parameters.take_while(|parameter| !parameter.rest))
}
