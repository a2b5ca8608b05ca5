//! Whether type parameters stand only where their variance allows it.

use harn_syntax::tree::{TypeParameter, Variance};

use super::compatible::own_variance;
use super::known::Known;
use super::ty::Ty;

/// What is wrong with the positions of type parameters in these types, each standing in a
/// position itself. `place` is the kind and the name of what declares the parameters.
pub(super) fn violations<'a>(
    known: &Known,
    declared: &[TypeParameter],
    place: (&str, &str),
    types: impl Iterator<Item = (&'a harn_syntax::tree::Type, Variance)>,
) -> Vec<String> {
    if declared
        .iter()
        .all(|one| one.variance == Variance::Invariant)
    {
        return Vec::new();
    }
    let mut check = Check {
        known,
        declared,
        place,
        found: Vec::new(),
    };
    for (written, position) in types {
        check.visit(&Ty::from(written), position);
    }
    check.found
}

struct Check<'a> {
    known: &'a Known,
    declared: &'a [TypeParameter],
    place: (&'a str, &'a str),
    found: Vec<String>,
}

impl Check<'_> {
    fn visit(&mut self, ty: &Ty, position: Variance) {
        match ty {
            Ty::Named(name) => self.visit_name(name, position),
            Ty::Applied(applied) => {
                let declared = self.known.declarations.variances(&applied.name);
                for (at, argument) in applied.arguments.iter().enumerate() {
                    let declared = declared.as_ref().and_then(|all| all.get(at)).copied();
                    let inside = declared.unwrap_or(own_variance(&applied.name));
                    self.visit(argument, compose(position, inside));
                }
            }
            Ty::Shape(shape) => {
                let fields = shape.fields.iter();
                fields.for_each(|field| self.visit(&field.ty, position));
            }
            Ty::Union(union) => {
                let members = union.members.iter();
                members.for_each(|member| self.visit(member, position));
            }
            Ty::Function(function) => {
                let flipped = compose(position, Variance::Contravariant);
                let parameters = function.parameters.iter();
                parameters.for_each(|one| self.visit(one, flipped));
                self.visit(&function.result, position);
            }
            Ty::Dynamic | Ty::Wildcard | Ty::Never | Ty::String(_) | Ty::Int(_) => {}
        }
    }

    fn visit_name(&mut self, name: &str, position: Variance) {
        let Some(declared) = self.declared.iter().find(|one| one.name.text == name) else {
            return;
        };
        if declared.variance == Variance::Invariant || declared.variance == position {
            return;
        }
        let mark = match declared.variance {
            Variance::Contravariant => "in",
            Variance::Covariant | Variance::Invariant => "out",
        };
        let article = match position {
            Variance::Invariant => "an",
            Variance::Covariant | Variance::Contravariant => "a",
        };
        let (kind, place) = self.place;
        self.found.push(format!(
            "type parameter '{name}' is declared '{mark}' ({}) but appears in {article} {} position \
             in {kind} '{place}'",
            word(declared.variance),
            word(position),
        ));
    }
}

fn word(variance: Variance) -> &'static str {
    match variance {
        Variance::Covariant => "covariant",
        Variance::Contravariant => "contravariant",
        Variance::Invariant => "invariant",
    }
}

/// The position of something inside something else.
fn compose(outside: Variance, inside: Variance) -> Variance {
    match (outside, inside) {
        (Variance::Invariant, _) | (_, Variance::Invariant) => Variance::Invariant,
        (one, other) if one == other => Variance::Covariant,
        _ => Variance::Contravariant,
    }
}
