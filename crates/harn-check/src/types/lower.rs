//! From types as they are written to types as they are compared.

use harn_syntax::tree::{self, TypeKind};
use smol_str::SmolStr;

use super::ty::{ShapeField, Ty};

impl From<&tree::Type> for Ty {
    fn from(written: &tree::Type) -> Self {
        match &written.kind {
            TypeKind::Named(name, arguments) => named(&name.text, arguments),
            TypeKind::List(element) => Self::list_of(Self::from(&**element).as_part()),
            TypeKind::Shape(fields) => Self::shape(fields.iter().map(field).collect()),
            TypeKind::Function(parameters, result) => {
                Self::function(all(parameters), Self::from(&**result))
            }
            TypeKind::String(text) => Self::String(text.clone()),
            TypeKind::Int(number) => Self::Int(*number),
            TypeKind::Nil => Self::NIL,
            TypeKind::Bool(_) => Self::BOOL,
            TypeKind::Union(members) => Self::union(all(members)),
        }
    }
}

/// The name under which a built-in container is known: some have two.
pub(super) fn container_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "list" => "list",
        "dict" => "dict",
        "iter" | "Iter" => "iter",
        "generator" | "Generator" => "Generator",
        "stream" | "Stream" => "Stream",
        _ => return None,
    })
}

fn named(name: &SmolStr, arguments: &[tree::Type]) -> Ty {
    match (name.as_str(), arguments) {
        ("never", []) => Ty::Never,
        ("_", []) => Ty::Wildcard,
        (_, []) => Ty::Named(name.clone()),
        (written, _) => match container_name(written) {
            Some(own) => Ty::applied(SmolStr::new_static(own), all(arguments)),
            None => Ty::applied(name.clone(), all(arguments)),
        },
    }
}

fn all(types: &[tree::Type]) -> Vec<Ty> {
    types.iter().map(Ty::from).collect()
}

fn field(written: &tree::ShapeField) -> ShapeField {
    ShapeField {
        name: written.name.text.clone(),
        optional: written.optional,
        ty: Ty::from(&written.ty),
    }
}
