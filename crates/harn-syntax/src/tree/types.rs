//! Types as they are written.

use smol_str::SmolStr;

use super::Name;
use crate::position::Span;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where it is.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `int`, `Point`, `list<int>`, `Result<T, E>`; a name with its arguments.
    Named(Name, Vec<Type>),
    /// `[T]`, which means `list<T>`.
    List(Box<Type>),
    /// `{a: T, b?: U}`
    Shape(Vec<ShapeField>),
    /// `fn(A, B) -> R`
    Function(Vec<Type>, Box<Type>),
    /// `"text"` or `r"text"`: that text only.
    String(SmolStr),
    /// `42` or `-1`: that number only.
    Int(i64),
    /// `nil`
    Nil,
    /// `true` or `false`, which both mean `bool`. It says which was written.
    Bool(bool),
    /// `A | B | C`, two members at least.
    Union(Vec<Type>),
}

/// A field of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeField {
    /// Its name.
    pub name: Name,
    /// Whether it may be missing: `name?`.
    pub optional: bool,
    /// Its type.
    pub ty: Type,
}
