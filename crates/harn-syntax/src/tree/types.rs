//! Types as they are written.

use std::fmt;

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

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TypeKind::Named(name, arguments) if arguments.is_empty() => f.write_str(&name.text),
            TypeKind::Named(name, arguments) => {
                write!(f, "{}<{}>", name.text, joined(arguments, ", "))
            }
            TypeKind::List(element) => write!(f, "list<{element}>"),
            TypeKind::Shape(fields) => {
                let fields = fields.iter().map(|field| {
                    let mark = if field.optional { "?" } else { "" };
                    format!("{}{mark}: {}", field.name.text, field.ty)
                });
                write!(f, "{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            TypeKind::Function(parameters, result) => {
                write!(f, "fn({}) -> {result}", joined(parameters, ", "))
            }
            TypeKind::String(text) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, "\"{text}\"")
            }
            TypeKind::Int(number) => write!(f, "{number}"),
            TypeKind::Nil => f.write_str("nil"),
            TypeKind::Bool(_) => f.write_str("bool"),
            TypeKind::Union(members) => f.write_str(&joined(members, " | ")),
        }
    }
}

fn joined(types: &[Type], separator: &str) -> String {
    let texts: Vec<_> = types.iter().map(Type::to_string).collect();
    texts.join(separator)
}
