//! What the type parameters of a call stand for.

use smol_str::SmolStr;

use super::compatible::Comparison;
use super::known::Known;
use super::ty::Ty;

/// What is known about some type parameters.
#[derive(Debug)]
pub(super) struct Bindings {
    parameters: Vec<Bound>,
}

#[derive(Debug)]
struct Bound {
    name: SmolStr,
    ty: Option<Ty>,
    /// Whether it was given as a type argument, which may be wider than the value's type.
    explicit: bool,
}

/// A type parameter would have to be two types.
#[derive(Debug)]
pub(super) struct Conflict {
    pub(super) parameter: SmolStr,
    pub(super) first: Ty,
    pub(super) second: Ty,
}

impl Conflict {
    pub(super) fn message(&self) -> String {
        let Self {
            parameter,
            first,
            second,
        } = self;
        format!("type parameter '{parameter}' was inferred as both {first} and {second}")
    }
}

impl Bindings {
    /// Nothing is known about any of these yet.
    pub(super) fn of<'a>(parameters: impl IntoIterator<Item = &'a SmolStr>) -> Self {
        let unbound = |name: &SmolStr| Bound {
            name: name.clone(),
            ty: None,
            explicit: false,
        };
        Self {
            parameters: parameters.into_iter().map(unbound).collect(),
        }
    }

    /// Gives a type argument to the parameter at that place.
    pub(super) fn give(&mut self, at: usize, ty: Ty) {
        if let Some(bound) = self.parameters.get_mut(at) {
            bound.explicit = true;
            bound.ty = Some(ty);
        }
    }

    /// What a parameter stands for, if that is known.
    pub(super) fn get(&self, name: &str) -> Option<&Ty> {
        let bound = self.parameters.iter().find(|bound| bound.name == name)?;
        bound.ty.as_ref()
    }

    /// What the parameters stand for, in order: `_` where nothing is known.
    pub(super) fn arguments(&self) -> Vec<Ty> {
        let known = self.parameters.iter().map(|bound| bound.ty.clone());
        known.map(|ty| ty.unwrap_or(Ty::Wildcard)).collect()
    }

    /// The type with the parameters that are known replaced, for people to read.
    pub(super) fn apply(&self, ty: &Ty) -> Ty {
        if self.parameters.is_empty() {
            return ty.clone();
        }
        ty.substitute(&|name| self.get(name).cloned())
    }

    /// The type with all parameters replaced, those that are not known by `_`.
    pub(super) fn apply_all(&self, ty: &Ty) -> Ty {
        if self.parameters.is_empty() {
            return ty.clone();
        }
        ty.substitute(&|name| {
            let bound = self.parameters.iter().find(|bound| bound.name == *name)?;
            Some(bound.ty.clone().unwrap_or(Ty::Wildcard))
        })
    }

    /// Forgets what was learned about the parameters from that place on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.parameters.truncate(len);
    }

    /// Adds parameters about which nothing is known.
    pub(super) fn extend<'a>(&mut self, parameters: impl IntoIterator<Item = &'a SmolStr>) {
        self.parameters.extend(Self::of(parameters).parameters);
    }

    pub(super) fn len(&self) -> usize {
        self.parameters.len()
    }
}

impl Known {
    /// Learns what the type parameters in `parameter` stand for if a value of type
    /// `argument` is passed for it.
    pub(super) fn bind(
        &self,
        bindings: &mut Bindings,
        parameter: &Ty,
        argument: &Ty,
    ) -> Result<(), Conflict> {
        Comparison::new(self).bind(bindings, parameter, argument)
    }
}

impl Comparison<'_> {
    /// The same as part of a larger comparison.
    pub(super) fn bind(
        &mut self,
        bindings: &mut Bindings,
        parameter: &Ty,
        argument: &Ty,
    ) -> Result<(), Conflict> {
        if bindings.parameters.is_empty() || argument.is_unknown_part() {
            return Ok(());
        }
        if let Some(name) = parameter.name() {
            let bound = bindings.parameters.iter_mut();
            return match bound.rev().find(|bound| bound.name == *name) {
                Some(bound) => self.bind_one(bound, argument),
                None => Ok(()),
            };
        }
        let argument = self.known.resolve(argument);
        self.bind_parts(bindings, parameter, &argument)
    }

    fn bind_one(&mut self, bound: &mut Bound, argument: &Ty) -> Result<(), Conflict> {
        let Some(first) = &bound.ty else {
            bound.ty = Some(argument.clone());
            return Ok(());
        };
        let fits = if bound.explicit {
            self.holds(argument, first)
        } else {
            self.both(argument, first)
        };
        if fits {
            return Ok(());
        }
        Err(Conflict {
            parameter: bound.name.clone(),
            first: first.clone(),
            second: argument.clone(),
        })
    }

    fn bind_parts(
        &mut self,
        bindings: &mut Bindings,
        parameter: &Ty,
        argument: &Ty,
    ) -> Result<(), Conflict> {
        let mut all = |parameters: &[Ty], arguments: &[Ty]| {
            let mut pairs = parameters.iter().zip(arguments);
            pairs.try_for_each(|(one, other)| self.bind(bindings, one, other))
        };
        match (parameter, argument) {
            (Ty::Applied(one), Ty::Applied(other))
                if one.name == other.name && one.arguments.len() == other.arguments.len() =>
            {
                all(&one.arguments, &other.arguments)
            }
            (Ty::Function(one), Ty::Function(other))
                if one.parameters.len() == other.parameters.len() =>
            {
                all(&one.parameters, &other.parameters)?;
                self.bind(bindings, &one.result, &other.result)
            }
            (Ty::Shape(one), Ty::Shape(other)) => one.fields.iter().try_for_each(|field| {
                let given = other.field(&field.name);
                given.map_or(Ok(()), |given| self.bind(bindings, &field.ty, &given.ty))
            }),
            _ => Ok(()),
        }
    }
}
