//! What is known about a function from its declaration.

use harn_syntax::tree::{
    Attribute, AttributeValue, Function, FunctionKind, Parameter, TypeParameter,
};
use smol_str::SmolStr;

use super::ty::Ty;

/// What a caller can rely on.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: SmolStr,
    pub(super) type_parameters: Vec<SmolStr>,
    pub(super) parameters: Vec<ParameterTy>,
    /// As declared.
    pub(super) result: Option<Ty>,
    /// What a call gives although no result is declared: a generator or a stream.
    pub(super) lazy_result: Option<Ty>,
    /// Type parameters with the interfaces they must satisfy.
    pub(super) bounds: Vec<(SmolStr, SmolStr)>,
    pub(super) deprecated: Option<Deprecated>,
}

/// A parameter.
#[derive(Debug)]
pub(super) struct ParameterTy {
    pub(super) name: SmolStr,
    pub(super) ty: Option<Ty>,
    pub(super) optional: bool,
    pub(super) rest: bool,
}

/// What `@deprecated` says.
#[derive(Debug)]
pub(super) struct Deprecated {
    pub(super) since: Option<SmolStr>,
    pub(super) instead: Option<SmolStr>,
}

impl Signature {
    /// The signature of a function declared with these attributes.
    pub(super) fn new(function: &Function, attributes: &[Attribute]) -> Self {
        let bounds = function.bounds.iter();
        Self {
            name: function.name.text.clone(),
            type_parameters: parameter_names(&function.type_parameters),
            parameters: function.parameters.iter().map(parameter).collect(),
            result: function.result.as_ref().map(Ty::from),
            lazy_result: lazy_result(function),
            bounds: bounds
                .map(|bound| (bound.parameter.text.clone(), bound.interface.text.clone()))
                .collect(),
            deprecated: attributes.iter().find_map(deprecated),
        }
    }

    /// How many arguments there must be at least.
    pub(super) fn required_count(&self) -> usize {
        let needed = self.parameters.iter().filter(|one| !one.optional);
        needed.filter(|one| !one.rest).count()
    }

    /// Whether it takes any number of arguments.
    pub(super) fn has_rest(&self) -> bool {
        self.parameters.iter().any(|one| one.rest)
    }

    /// The type of the function as a value.
    pub(super) fn as_type(&self) -> Ty {
        let parameter = |one: &ParameterTy| one.ty.clone().unwrap_or(Ty::Wildcard);
        let parameters = self.parameters.iter().map(parameter).collect();
        Ty::function(parameters, self.result.clone().unwrap_or(Ty::NIL))
    }
}

/// The names of type parameters.
pub(super) fn parameter_names(parameters: &[TypeParameter]) -> Vec<SmolStr> {
    let names = parameters.iter().map(|one| one.name.text.clone());
    names.collect()
}

fn parameter(written: &Parameter) -> ParameterTy {
    ParameterTy {
        name: written.name.text.clone(),
        ty: written.ty.as_ref().map(Ty::from),
        optional: written.default.is_some(),
        rest: written.rest,
    }
}

fn lazy_result(function: &Function) -> Option<Ty> {
    if function.result.is_some() {
        return None;
    }
    let of_any = |name| Some(Ty::container(name, Ty::ANY));
    match function.kind {
        FunctionKind::Stream => of_any("Stream"),
        FunctionKind::Plain if function.body.yields => of_any("Generator"),
        FunctionKind::Plain => None,
    }
}

fn deprecated(attribute: &Attribute) -> Option<Deprecated> {
    if attribute.name.text != "deprecated" {
        return None;
    }
    let text = |wanted: &str| {
        let mut arguments = attribute.arguments.iter().flatten();
        arguments.find_map(|argument| match (&argument.name, &argument.value) {
            (Some(name), AttributeValue::String(text)) if name.text == wanted => Some(text.clone()),
            _ => None,
        })
    };
    Some(Deprecated {
        since: text("since"),
        instead: text("use"),
    })
}
