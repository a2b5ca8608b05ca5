//! A type as the checker sees it.
//!
//! Types are cheap to copy: what is large is shared. Whatever is put together from other
//! types knows how large and how deep it is, and what would become too large is dynamic
//! instead, so that no program can make us compare, print or drop something without end.

use std::sync::Arc;

use smol_str::SmolStr;

/// How many types one type may consist of.
const WEIGHT_MAX: u32 = 4_000;
/// How deeply types may be nested.
const DEPTH_MAX: u32 = 100;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Nothing is known. Compatible with everything.
    Dynamic,
    /// `_`: a part of a type about which nothing is known.
    Wildcard,
    /// `never`: no value at all.
    Never,
    /// A single name: `int`, `Point`, `T`.
    Named(SmolStr),
    /// `"text"`: that text only.
    String(SmolStr),
    /// `42`: that number only.
    Int(i64),
    /// `list<int>`, `Result<T, E>`: a name with arguments.
    Applied(Arc<Applied>),
    /// `{a: int, b?: string}`
    Shape(Arc<Shape>),
    /// `A | B`
    Union(Arc<Union>),
    /// `fn(A, B) -> R`
    Function(Arc<FunctionTy>),
}

/// A name with arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Applied {
    /// The name.
    pub name: SmolStr,
    /// The arguments, one at least.
    pub arguments: Vec<Ty>,
    size: Size,
}

/// The fields of a dict.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The fields in the order of their declaration.
    pub fields: Vec<ShapeField>,
    /// Where they are in the order of their names; empty if there are only a few.
    sorted: Vec<u32>,
    size: Size,
}

/// Up to so many fields it is faster to look at all of them than to search.
const FIELDS_FEW: usize = 8;

impl Shape {
    fn new(fields: Vec<ShapeField>, size: Size) -> Self {
        let mut sorted: Vec<u32> = Vec::new();
        if fields.len() > FIELDS_FEW {
            sorted.extend((0..).take(fields.len()));
            sorted.sort_by_key(|at| &fields[*at as usize].name);
        }
        Self {
            fields,
            sorted,
            size,
        }
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&ShapeField> {
        if self.sorted.is_empty() {
            return self.fields.iter().find(|field| field.name == name);
        }
        let named = |at: &u32| &self.fields[*at as usize];
        let before = self.sorted.partition_point(|at| *named(at).name < *name);
        let found = self.sorted.get(before).map(named);
        found.filter(|field| field.name == name)
    }
}

/// A field of a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShapeField {
    /// Its name.
    pub name: SmolStr,
    /// Whether it may be missing.
    pub optional: bool,
    /// Its type.
    pub ty: Ty,
}

/// Several types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Union {
    /// The members in order.
    pub members: Vec<Ty>,
    size: Size,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionTy {
    /// What it takes.
    pub parameters: Vec<Ty>,
    /// What it gives.
    pub result: Ty,
    size: Size,
}

/// How much there is of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Size {
    weight: u32,
    depth: u32,
}

impl Size {
    /// The size of what consists of these parts, unless it is too large.
    fn of<'a>(parts: impl Iterator<Item = &'a Ty>) -> Option<Self> {
        let mut whole = Self {
            weight: 1,
            depth: 0,
        };
        for part in parts.map(Ty::size) {
            whole.weight = whole.weight.saturating_add(part.weight);
            whole.depth = whole.depth.max(part.depth);
        }
        whole.depth += 1;
        (whole.weight <= WEIGHT_MAX && whole.depth <= DEPTH_MAX).then_some(whole)
    }
}

impl Ty {
    /// A type of that name.
    pub const fn named(name: &'static str) -> Self {
        Self::Named(SmolStr::new_static(name))
    }

    /// How many members a union may get by inference. Nobody writes or reads more.
    pub(super) const MEMBERS_MAX: usize = 200;

    /// `nil`
    pub const NIL: Self = Self::named("nil");
    /// `int`
    pub const INT: Self = Self::named("int");
    /// `float`
    pub const FLOAT: Self = Self::named("float");
    /// `string`
    pub const STRING: Self = Self::named("string");
    /// `bool`
    pub const BOOL: Self = Self::named("bool");
    /// `list`
    pub const LIST: Self = Self::named("list");
    /// `dict`
    pub const DICT: Self = Self::named("dict");
    /// `any`
    pub const ANY: Self = Self::named("any");
    /// `unknown`
    pub const UNKNOWN: Self = Self::named("unknown");
    /// `closure`
    pub const CLOSURE: Self = Self::named("closure");

    /// A name with arguments; the name alone if there are none.
    pub fn applied(name: impl Into<SmolStr>, arguments: Vec<Self>) -> Self {
        let name = name.into();
        if arguments.is_empty() {
            return Self::Named(name);
        }
        Size::of(arguments.iter()).map_or(Self::Dynamic, |size| {
            Self::Applied(Arc::new(Applied {
                name,
                arguments,
                size,
            }))
        })
    }

    /// `list<T>`, or `list` if nothing is known about its elements.
    pub fn list_of(element: Self) -> Self {
        Self::container("list", element)
    }

    /// `name<T>`, or `name` if nothing is known about T.
    pub fn container(name: &'static str, element: Self) -> Self {
        if element == Self::Dynamic {
            Self::named(name)
        } else {
            Self::applied(SmolStr::new_static(name), vec![element])
        }
    }

    /// A shape of these fields.
    pub fn shape(fields: Vec<ShapeField>) -> Self {
        Size::of(fields.iter().map(|field| &field.ty)).map_or(Self::Dynamic, |size| {
            Self::Shape(Arc::new(Shape::new(fields, size)))
        })
    }

    /// A function type.
    pub fn function(parameters: Vec<Self>, result: Self) -> Self {
        let parts = parameters.iter().chain([&result]);
        Size::of(parts).map_or(Self::Dynamic, |size| {
            Self::Function(Arc::new(FunctionTy {
                parameters,
                result,
                size,
            }))
        })
    }

    /// These types exactly as they are, as one.
    pub fn union(mut members: Vec<Self>) -> Self {
        match members.len() {
            0 => Self::Never,
            1 => members.remove(0),
            _ => Size::of(members.iter()).map_or(Self::Dynamic, |size| {
                Self::Union(Arc::new(Union { members, size }))
            }),
        }
    }

    /// The distinct ones of these types in order of appearance, unions taken apart.
    /// Nothing is known about what contains something dynamic.
    pub fn merged(types: impl IntoIterator<Item = Self>) -> Self {
        let mut members: Vec<Self> = Vec::new();
        for ty in types {
            if ty == Self::Dynamic {
                return Self::Dynamic;
            }
            for member in ty.members() {
                if !members.contains(member) {
                    members.push(member.clone());
                }
            }
            if members.len() > Self::MEMBERS_MAX {
                return Self::Dynamic;
            }
        }
        Self::union(members)
    }

    /// The members of a union; anything else is its own only member.
    pub fn members(&self) -> &[Self] {
        match self {
            Self::Union(union) => &union.members,
            _ => std::slice::from_ref(self),
        }
    }

    /// The name, if it is nothing but a name.
    pub fn name(&self) -> Option<&SmolStr> {
        match self {
            Self::Named(name) => Some(name),
            _ => None,
        }
    }

    /// Whether it is just that name.
    pub fn is(&self, name: &str) -> bool {
        self.name().is_some_and(|own| own == name)
    }

    /// The name of a declared type, with or without arguments.
    pub fn head(&self) -> Option<&SmolStr> {
        match self {
            Self::Named(name) => Some(name),
            Self::Applied(applied) => Some(&applied.name),
            _ => None,
        }
    }

    /// Its arguments, if it is this name with so many of them.
    pub fn arguments_of<const N: usize>(&self, name: &str) -> Option<&[Self; N]> {
        match self {
            Self::Applied(applied) if applied.name == name => {
                applied.arguments.as_slice().try_into().ok()
            }
            _ => None,
        }
    }

    /// Whether nothing is known about it.
    pub fn is_unknown_part(&self) -> bool {
        matches!(self, Self::Dynamic | Self::Wildcard)
    }

    /// As a part of another type: `_` if nothing is known.
    #[must_use]
    pub fn as_part(self) -> Self {
        if self == Self::Dynamic {
            Self::Wildcard
        } else {
            self
        }
    }

    /// A part of another type as a type of its own: dynamic if nothing is known.
    #[must_use]
    pub fn as_whole(self) -> Self {
        if self == Self::Wildcard {
            Self::Dynamic
        } else {
            self
        }
    }

    /// The union without these members.
    #[must_use]
    pub fn without(&self, dropped: impl Fn(&Self) -> bool) -> Self {
        let kept = self.members().iter().filter(|member| !dropped(member));
        Self::union(kept.cloned().collect())
    }

    /// This type with its names replaced where `replace` says so.
    #[must_use]
    pub fn substitute(&self, replace: &dyn Fn(&SmolStr) -> Option<Self>) -> Self {
        let all = |types: &[Self]| types.iter().map(|ty| ty.substitute(replace)).collect();
        match self {
            Self::Named(name) => replace(name).unwrap_or_else(|| self.clone()),
            Self::Applied(applied) => Self::applied(applied.name.clone(), all(&applied.arguments)),
            Self::Union(union) => Self::union(all(&union.members)),
            Self::Function(function) => {
                let result = function.result.substitute(replace);
                Self::function(all(&function.parameters), result)
            }
            Self::Shape(shape) => {
                let replaced = |field: &ShapeField| ShapeField {
                    ty: field.ty.substitute(replace),
                    ..field.clone()
                };
                Self::shape(shape.fields.iter().map(replaced).collect())
            }
            Self::Dynamic | Self::Wildcard | Self::Never | Self::String(_) | Self::Int(_) => {
                self.clone()
            }
        }
    }

    /// How many types it consists of.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.size().weight)
    }

    fn size(&self) -> Size {
        match self {
            Self::Applied(applied) => applied.size,
            Self::Shape(shape) => shape.size,
            Self::Union(union) => union.size,
            Self::Function(function) => function.size,
            _ => Size {
                weight: 1,
                depth: 0,
            },
        }
    }
}
