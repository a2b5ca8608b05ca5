//! Whether a type has everything an interface asks for.

use smol_str::SmolStr;

use super::binding::Bindings;
use super::compatible::Comparison;
use super::declarations::{InterfaceTy, Method};
use super::known::Known;
use super::ty::Ty;

impl Known {
    /// Whether the type satisfies the interface, and the reason if it does not.
    pub(super) fn satisfies(&self, actual: &Ty, interface: &Ty) -> Result<(), String> {
        Comparison::new(self).satisfies(actual, interface)
    }
}

impl Comparison<'_> {
    /// Whether the type satisfies the interface, and the reason if it does not.
    pub(super) fn satisfies(&mut self, actual: &Ty, interface: &Ty) -> Result<(), String> {
        let known = self.known;
        let declarations = &known.declarations;
        let (Some(name), Some(wanted)) = (actual.head(), interface.head()) else {
            return Err("only named types can satisfy interfaces".to_owned());
        };
        let Some(declared) = declarations.interfaces.get(wanted) else {
            return Err(format!("interface '{wanted}' not found"));
        };
        let Some(methods) = declarations.methods.get(name) else {
            return if declared.methods.is_empty() {
                Ok(())
            } else {
                let names = declared.methods.iter().map(|(name, _)| name.as_str());
                let names: Vec<_> = names.collect();
                Err(format!("missing method(s): {}", names.join(", ")))
            };
        };
        let associated = declared.associated.iter().map(|(name, _)| name);
        let mut bindings = Bindings::of(associated);
        for (name, wanted) in &declared.methods {
            let Some(own) = methods.get(name) else {
                return Err(format!("missing method '{name}'"));
            };
            let wanted = method_with(wanted, &arguments(declared, interface));
            let own = method_with(own, &self.own_arguments(actual, own));
            self.compare_methods(name, &own, &wanted, &mut bindings)?;
        }
        self.compare_associated(declared, &bindings)
    }

    fn compare_methods(
        &mut self,
        name: &str,
        own: &Method,
        wanted: &Method,
        bindings: &mut Bindings,
    ) -> Result<(), String> {
        let (count, expected) = (own.parameters.len(), wanted.parameters.len());
        if count != expected {
            return Err(format!(
                "method '{name}' has {count} parameter(s), expected {expected}"
            ));
        }
        let shared = bindings.len();
        bindings.extend(&wanted.type_parameters);
        let pairs = own.parameters.iter().zip(&wanted.parameters);
        for (at, pair) in pairs.enumerate() {
            let (Some(one), Some(other)) = pair else {
                continue;
            };
            let expected = self.matched(bindings, other, one)?;
            if !self.holds(&expected, one) {
                let at = at + 1;
                let expected = bindings.apply(other);
                return Err(format!(
                    "method '{name}' parameter {at} has type '{one}', expected '{expected}'"
                ));
            }
        }
        if let (Some(one), Some(other)) = (&own.result, &wanted.result) {
            let expected = self.matched(bindings, other, one)?;
            if !self.holds(one, &expected) {
                let expected = bindings.apply(other);
                return Err(format!(
                    "method '{name}' returns '{one}', expected '{expected}'"
                ));
            }
        }
        bindings.truncate(shared);
        Ok(())
    }

    /// What is expected once the associated types in it are known.
    fn matched(&mut self, bindings: &mut Bindings, wanted: &Ty, own: &Ty) -> Result<Ty, String> {
        let bound = self.bind(bindings, wanted, own);
        bound.map_err(|conflict| conflict.message())?;
        Ok(bindings.apply_all(wanted))
    }

    fn compare_associated(
        &mut self,
        declared: &InterfaceTy,
        bindings: &Bindings,
    ) -> Result<(), String> {
        for (name, fixed) in &declared.associated {
            if let (Some(fixed), Some(found)) = (fixed, bindings.get(name))
                && !self.both(found, fixed)
            {
                return Err(format!(
                    "associated type '{name}' resolves to '{found}', expected '{fixed}'"
                ));
            }
        }
        Ok(())
    }

    /// What the type parameters of a method and of its struct stand for.
    fn own_arguments(&self, actual: &Ty, method: &Method) -> Vec<(SmolStr, Ty)> {
        let unknown = |name: &SmolStr| (name.clone(), Ty::Wildcard);
        let mut all: Vec<_> = method.type_parameters.iter().map(unknown).collect();
        let structs = &self.known.declarations.structs;
        if let Some(declared) = actual.head().and_then(|name| structs.get(name)) {
            let names = declared.parameters.iter().map(|(name, _)| name);
            all.extend(with_arguments(names, actual));
        }
        all
    }
}

fn arguments(declared: &InterfaceTy, interface: &Ty) -> Vec<(SmolStr, Ty)> {
    let names = declared.parameters.iter().map(|(name, _)| name);
    with_arguments(names, interface).collect()
}

/// Each name with the argument of the type at its place, `_` if there is none.
fn with_arguments<'a>(
    names: impl Iterator<Item = &'a SmolStr>,
    ty: &Ty,
) -> impl Iterator<Item = (SmolStr, Ty)> {
    let given = match ty {
        Ty::Applied(applied) => applied.arguments.as_slice(),
        _ => &[],
    };
    names.enumerate().map(move |(at, name)| {
        let argument = given.get(at).cloned().unwrap_or(Ty::Wildcard);
        (name.clone(), argument)
    })
}

fn method_with(method: &Method, arguments: &[(SmolStr, Ty)]) -> Method {
    let replaced = |ty: &Option<Ty>| {
        ty.as_ref().map(|ty| {
            ty.substitute(&|name| {
                let mut named = arguments.iter().filter(|(own, _)| own == name);
                named.next().map(|(_, ty)| ty.clone())
            })
        })
    };
    Method {
        type_parameters: method.type_parameters.clone(),
        parameters: method.parameters.iter().map(replaced).collect(),
        result: replaced(&method.result),
    }
}
