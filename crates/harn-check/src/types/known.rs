//! What is known about types by their names, and what names stand for.

use std::cell::{Cell, RefCell};

use hashbrown::{HashMap, HashSet};
use smol_str::SmolStr;

use super::declarations::{Alias, Declarations};
use super::ty::{Shape, Ty};

/// How many aliases are followed one after the other before we take them for a circle.
const CHAIN_MAX: usize = 64;
/// How many members a union may have once its aliases are replaced.
const MEMBERS_MAX: usize = 1_000;
/// Into how many members a union given to a generic alias may be taken apart.
const DISTRIBUTED_MAX: usize = 64;

/// Everything that has to do with the names of types.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) declarations: Declarations,
    /// The type parameters of the declarations around, each with the interfaces it satisfies.
    /// Of several of the same name the innermost is the last one and hides the others.
    pub(super) type_parameters: HashMap<SmolStr, Vec<Vec<SmolStr>>>,
    /// How many steps all comparisons together have taken.
    pub(super) steps: Cell<u64>,
    /// Answers about pairs of declared types, which are asked for again and again.
    pub(super) answers: RefCell<HashMap<(Ty, Ty), bool>>,
}

/// A union of shapes that a field tells apart.
#[derive(Debug)]
pub(super) struct Tagged {
    /// The field.
    pub(super) tag: SmolStr,
    /// The shapes, each with the literal type of its field.
    pub(super) variants: Vec<(Ty, Ty)>,
}

impl Known {
    pub(super) fn new(declarations: Declarations) -> Self {
        Self {
            declarations,
            type_parameters: HashMap::new(),
            steps: Cell::new(0),
            answers: RefCell::default(),
        }
    }

    /// Whether it is a type parameter of a declaration around.
    pub(super) fn is_parameter(&self, ty: &Ty) -> bool {
        ty.name()
            .is_some_and(|name| self.type_parameters.contains_key(name))
    }

    /// The interfaces that the type satisfies because it is a type parameter.
    pub(super) fn bounds(&self, ty: &Ty) -> &[SmolStr] {
        let declared = ty.name().and_then(|name| self.type_parameters.get(name));
        let innermost = declared.and_then(|declared| declared.last());
        innermost.map_or(&[], Vec::as_slice)
    }

    /// Makes type parameters known. A bound may also be about one of a declaration around.
    /// Gives the names for [`forget_parameters`](Self::forget_parameters).
    pub(super) fn learn_parameters(
        &mut self,
        parameters: impl IntoIterator<Item = SmolStr>,
        bounds: impl IntoIterator<Item = (SmolStr, SmolStr)>,
    ) -> Vec<SmolStr> {
        let mut learned: Vec<SmolStr> = parameters.into_iter().collect();
        let mut own: HashSet<SmolStr> = learned.iter().cloned().collect();
        for name in &learned {
            let declared = self.type_parameters.entry(name.clone()).or_default();
            declared.push(Vec::new());
        }
        for (name, interface) in bounds {
            let Some(declared) = self.type_parameters.get_mut(&name) else {
                continue;
            };
            if own.insert(name.clone()) {
                declared.push(declared.last().cloned().unwrap_or_default());
                learned.push(name);
            }
            if let Some(innermost) = declared.last_mut() {
                innermost.push(interface);
            }
        }
        learned
    }

    /// Undoes [`learn_parameters`](Self::learn_parameters).
    pub(super) fn forget_parameters(&mut self, learned: Vec<SmolStr>) {
        for name in learned {
            if let Some(declared) = self.type_parameters.get_mut(&name) {
                declared.pop();
                if declared.is_empty() {
                    self.type_parameters.remove(&name);
                }
            }
        }
    }

    /// What an alias stands for; `None` for everything else. Given a union of literals, also by
    /// the name of one, a generic alias stands for the union of what it is for each of them.
    pub(super) fn expand(&self, ty: &Ty) -> Option<Ty> {
        if self.is_parameter(ty) {
            return None;
        }
        let alias = self.declarations.aliases.get(ty.head()?)?;
        let arguments = arguments(ty).iter();
        let arguments: Vec<Ty> = arguments.map(|one| self.with_literals(one)).collect();
        Some(applied(alias, &arguments))
    }

    /// The type with the literals of those of its members that are names of unions of literals.
    fn with_literals(&self, ty: &Ty) -> Ty {
        let members = ty.members().iter().flat_map(|member| {
            let literals = self.literals(member);
            literals.unwrap_or_else(|| vec![member.clone()])
        });
        Ty::union(members.collect())
    }

    /// The members of a union of literals, however it and its parts are named; `None` if it is
    /// something else.
    fn literals(&self, ty: &Ty) -> Option<Vec<Ty>> {
        let mut literals = Vec::new();
        let mut waiting = vec![ty];
        for _ in 0..MEMBERS_MAX {
            match waiting.pop() {
                None => return Some(literals),
                Some(literal @ (Ty::String(_) | Ty::Int(_))) => literals.push(literal.clone()),
                Some(Ty::Union(union)) => waiting.extend(union.members.iter().rev()),
                Some(Ty::Named(name)) if !self.type_parameters.contains_key(name) => {
                    let alias = self.declarations.aliases.get(name)?;
                    waiting.push(&alias.ty);
                }
                Some(_) => return None,
            }
        }
        None
    }

    /// The type with the alias it may be replaced by its definition. Nothing is known about
    /// aliases that stand for each other.
    pub(super) fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        for _ in 0..CHAIN_MAX {
            match self.expand(&ty) {
                Some(definition) => ty = definition,
                None => return ty,
            }
        }
        Ty::Dynamic
    }

    /// The members of a union, aliases replaced and unions in unions taken apart.
    /// `None` if there are too many.
    pub(super) fn resolved_members(&self, ty: &Ty) -> Option<Vec<Ty>> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![ty.clone()];
        for _ in 0..MEMBERS_MAX {
            let Some(next) = waiting.pop() else {
                return Some(members);
            };
            match self.resolve(&next) {
                Ty::Union(union) => waiting.extend(union.members.iter().rev().cloned()),
                member if seen.contains(&member) => {}
                member => {
                    seen.insert(member.clone());
                    members.push(member);
                }
            }
        }
        None
    }

    /// The type as a union of shapes that a field tells apart.
    pub(super) fn tagged(&self, ty: &Ty) -> Option<Tagged> {
        if !matches!(ty, Ty::Union(_)) && self.expand(ty).is_none() {
            return None;
        }
        Tagged::of(self.resolved_members(ty)?)
    }
}

impl Tagged {
    /// Distinct types as shapes that a field tells apart.
    pub(super) fn of(members: Vec<Ty>) -> Option<Self> {
        let shapes = members.iter().map(|member| match member {
            Ty::Shape(shape) => Some(&**shape),
            _ => None,
        });
        let shapes: Vec<&Shape> = shapes.collect::<Option<_>>()?;
        let (first, _) = shapes
            .split_first()
            .filter(|(_, others)| !others.is_empty())?;
        let tag = first
            .fields
            .iter()
            .find(|field| tells_apart(&shapes, &field.name))?;
        let tags = shapes.iter().filter_map(|shape| shape.field(&tag.name));
        let tags: Vec<Ty> = tags.map(|field| field.ty.clone()).collect();
        Some(Self {
            tag: tag.name.clone(),
            variants: members.into_iter().zip(tags).collect(),
        })
    }
}

/// What a type stands for if it is one of these aliases.
pub(super) fn expand(aliases: &HashMap<SmolStr, Alias>, ty: &Ty) -> Option<Ty> {
    let alias = aliases.get(ty.head()?)?;
    Some(applied(alias, arguments(ty)))
}

fn arguments(ty: &Ty) -> &[Ty] {
    match ty {
        Ty::Applied(applied) => &applied.arguments,
        _ => &[],
    }
}

/// What an alias stands for with these arguments.
fn applied(alias: &Alias, arguments: &[Ty]) -> Ty {
    if alias.parameters.is_empty() {
        return alias.ty.clone();
    }
    let places = alias.parameters.iter().enumerate().rev();
    let places: HashMap<&SmolStr, usize> = places.map(|(at, own)| (own, at)).collect();
    let apply = |arguments: &[Ty]| {
        alias.ty.substitute(&|name| {
            let argument = arguments.get(*places.get(name)?);
            Some(argument.cloned().unwrap_or(Ty::Wildcard))
        })
    };
    let combinations = combinations(arguments).unwrap_or_else(|| vec![arguments.to_vec()]);
    let members = combinations.iter().map(|arguments| apply(arguments));
    Ty::union(members.collect())
}

/// Whether the field has another literal type in each of the shapes.
fn tells_apart(shapes: &[&Shape], name: &str) -> bool {
    let mut seen = HashSet::new();
    shapes.iter().all(|shape| {
        let field = shape.field(name).filter(|field| !field.optional);
        let literal = field.map(|field| &field.ty);
        literal.is_some_and(|ty| matches!(ty, Ty::String(_) | Ty::Int(_)) && seen.insert(ty))
    })
}

/// Every way to choose one member of each argument; `None` if there is only one way, or if
/// there are too many.
fn combinations(arguments: &[Ty]) -> Option<Vec<Vec<Ty>>> {
    let mut count: usize = 1;
    for argument in arguments {
        count = count.checked_mul(argument.members().len())?;
    }
    if !(2..=DISTRIBUTED_MAX).contains(&count) {
        return None;
    }
    let mut all = vec![Vec::new()];
    for argument in arguments {
        let longer = |begun: &Vec<Ty>| {
            let with = |member: &Ty| [begun.as_slice(), std::slice::from_ref(member)].concat();
            argument.members().iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Some(all)
}
