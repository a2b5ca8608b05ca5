//! What the type parameters of a call stand for.

use hashbrown::HashMap;
use smol_str::SmolStr;

use super::compatible::Comparison;
use super::known::Known;
use super::ty::Ty;

/// What is known about some type parameters.
#[derive(Debug)]
pub(super) struct Bindings {
    parameters: Vec<Bound>,
    /// Where each name is; empty as long as there are only a few.
    places: HashMap<SmolStr, usize>,
}

/// Up to so many parameters it is faster to look at all of them than to search.
const PARAMETERS_FEW: usize = 8;

#[derive(Debug)]
struct Bound {
    name: SmolStr,
    ty: Option<Ty>,
    /// The place of a parameter of the same name before it.
    hides: Option<usize>,
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
        let mut bindings = Self {
            parameters: Vec::new(),
            places: HashMap::new(),
        };
        bindings.extend(parameters);
        bindings
    }

    /// Where a parameter is: the last one of that name.
    fn place(&self, name: &str) -> Option<usize> {
        if self.places.is_empty() {
            return self.parameters.iter().rposition(|own| own.name == name);
        }
        self.places.get(name).copied()
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
        self.parameters[self.place(name)?].ty.as_ref()
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
            let bound = &self.parameters[self.place(name)?];
            Some(bound.ty.clone().unwrap_or(Ty::Wildcard))
        })
    }

    /// Forgets what was learned about the parameters from that place on.
    pub(super) fn truncate(&mut self, len: usize) {
        for bound in self.parameters.drain(len..).rev() {
            match bound.hides {
                Some(hidden) => self.places.insert(bound.name, hidden),
                None => self.places.remove(&bound.name),
            };
        }
    }

    /// Adds parameters about which nothing is known.
    pub(super) fn extend<'a>(&mut self, parameters: impl IntoIterator<Item = &'a SmolStr>) {
        let unbound = |name: &SmolStr| Bound {
            name: name.clone(),
            ty: None,
            hides: None,
            explicit: false,
        };
        let before = self.parameters.len();
        self.parameters.extend(parameters.into_iter().map(unbound));
        if self.parameters.len() > PARAMETERS_FEW {
            let first = if self.places.is_empty() { 0 } else { before };
            for at in first..self.parameters.len() {
                let bound = &mut self.parameters[at];
                bound.hides = self.places.insert(bound.name.clone(), at);
            }
        }
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
            return match bindings.place(name) {
                Some(at) => self.bind_one(&mut bindings.parameters[at], argument),
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
