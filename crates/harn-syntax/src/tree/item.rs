//! What a program declares.

use smol_str::SmolStr;

use super::{Block, Expression, Name, Statement, Type};
use crate::position::Span;

/// A declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What stands before it: `@name(…)`.
    pub attributes: Vec<Attribute>,
    /// Where `pub` is, if it is public.
    pub public: Option<Span>,
    /// What it declares.
    pub kind: ItemKind,
}

/// What is declared.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `import "m"`
    Import(Import),
    /// `pipeline`
    Pipeline(Pipeline),
    /// `override`
    Override(Override),
    /// `fn`, `gen fn`
    Function(Function),
    /// `tool`
    Tool(Tool),
    /// `skill`
    Skill(Skill),
    /// `eval_pack`
    EvalPack(EvalPack),
    /// `struct`
    Struct(StructItem),
    /// `enum`
    Enum(EnumItem),
    /// `type`
    Type(TypeAlias),
    /// `interface`
    Interface(Interface),
    /// `impl`
    Impl(Impl),
}

/// `@name(key: value)`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// What it is given; `None` without parentheses.
    pub arguments: Option<Vec<AttributeArgument>>,
    /// Where it is.
    pub span: Span,
}

/// `key: value` or `value`
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeArgument {
    /// The key, if there is one.
    pub name: Option<Name>,
    /// The value.
    pub value: AttributeValue,
    /// Where it is.
    pub span: Span,
}

/// What an attribute can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// `"text"` or `r"text"`
    String(SmolStr),
    /// `42`, `-1`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// `nil`
    Nil,
    /// `name`
    Name(Name),
    /// `[a, b]`
    List(Vec<AttributeValue>),
}

/// A string without interpolations where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What it stands for.
    pub text: SmolStr,
    /// Where it is, with its quotes.
    pub span: Span,
}

/// `import { a, b } from "path"` or `import "path"`
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The names; `None` for all of them.
    pub names: Option<Vec<Name>>,
    /// The path.
    pub path: Text,
}

/// `pipeline name(a, b) -> type extends parent { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Its name.
    pub name: Name,
    /// What the host gives it.
    pub parameters: Vec<Name>,
    /// What it returns.
    pub result: Option<Type>,
    /// What runs before it.
    pub parent: Option<Name>,
    /// What it does.
    pub body: Block,
}

/// `override name(a) { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Its name.
    pub name: Name,
    /// What it takes.
    pub parameters: Vec<Name>,
    /// What it would do.
    pub body: Block,
}

/// `fn name<T>(a: T) -> T where T: Named { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Whether it gives a stream.
    pub kind: FunctionKind,
    /// Its name.
    pub name: Name,
    /// Its type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: Option<Type>,
    /// What its type parameters must be.
    pub bounds: Vec<Bound>,
    /// What it does.
    pub body: Block,
}

/// How a function is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `fn`
    Plain,
    /// `gen fn`
    Stream,
}

/// `name: type = default` or `...name: type`
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Option<Type>,
    /// The value if none is passed.
    pub default: Option<Expression>,
    /// Whether it takes all that remain.
    pub rest: bool,
}

/// `T`, `in T`, `out T`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeParameter {
    /// Its name.
    pub name: Name,
    /// Where it may appear.
    pub variance: Variance,
}

/// Where a type parameter may appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variance {
    /// Anywhere.
    Invariant,
    /// `out`: in what comes out.
    Covariant,
    /// `in`: in what goes in.
    Contravariant,
}

/// `T: Named`
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The type parameter.
    pub parameter: Name,
    /// The interface it must satisfy.
    pub interface: Name,
}

/// `tool name(a: int) -> string { description "…" … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: Name,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: Option<Type>,
    /// What the model is told about it.
    pub description: Option<Text>,
    /// What it does; the braces also hold the description.
    pub body: Block,
}

/// `skill name { field value … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// Its name.
    pub name: Name,
    /// What it consists of.
    pub fields: Vec<SkillField>,
    /// Where its braces are.
    pub body: Span,
}

/// `field value`
#[derive(Clone, Debug, PartialEq)]
pub struct SkillField {
    /// The field.
    pub name: Name,
    /// The value.
    pub value: Expression,
}

/// `eval_pack name "id" { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct EvalPack {
    /// What it is called.
    pub name: EvalPackName,
    /// What it consists of, in order.
    pub entries: Vec<EvalPackEntry>,
    /// Where its braces are.
    pub body: Span,
}

/// What an eval pack is called.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalPackName {
    /// `name`, `name "id"`
    Name(Name, Option<Text>),
    /// `"id"`
    Id(Text),
}

/// What an eval pack consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalPackEntry {
    /// `name: value`
    Field(Name, Expression),
    /// `summarize { … }`, once at most.
    Summarize(Block),
    /// Anything else.
    Statement(Statement),
}

/// `struct Name<T> { field: type, other? }`
#[derive(Clone, Debug, PartialEq)]
pub struct StructItem {
    /// Its name.
    pub name: Name,
    /// Its type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Where its braces are.
    pub body: Span,
}

/// `name?: type`
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Whether it may be missing.
    pub optional: bool,
    /// Its type.
    pub ty: Option<Type>,
}

/// `enum Name<T> { A, B(x: T) }`
#[derive(Clone, Debug, PartialEq)]
pub struct EnumItem {
    /// Its name.
    pub name: Name,
    /// Its type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// Its variants.
    pub variants: Vec<Variant>,
    /// Where its braces are.
    pub body: Span,
}

/// `Name(x: int)`
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name.
    pub name: Name,
    /// What it carries; `None` without parentheses.
    pub parameters: Option<Vec<Parameter>>,
}

/// `type Name<T> = type`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeAlias {
    /// Its name.
    pub name: Name,
    /// Its type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// What it stands for.
    pub ty: Type,
}

/// `interface Name { type Item fn method() -> Item }`
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its name.
    pub name: Name,
    /// Its type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// What satisfies it must have.
    pub members: Vec<InterfaceMember>,
    /// Where its braces are.
    pub body: Span,
}

/// What an interface asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum InterfaceMember {
    /// `type Item`, `type Item = int`
    Type {
        /// Its name.
        name: Name,
        /// What it stands for.
        ty: Option<Type>,
    },
    /// `fn name<T>(a: T) -> T`
    Method {
        /// Its name.
        name: Name,
        /// Its type parameters.
        type_parameters: Vec<TypeParameter>,
        /// What it takes.
        parameters: Vec<Parameter>,
        /// What it returns.
        result: Option<Type>,
    },
}

/// `impl Name { fn method(self) { … } }`
#[derive(Clone, Debug, PartialEq)]
pub struct Impl {
    /// What has the methods.
    pub name: Name,
    /// The methods, each with where its `pub` is.
    pub methods: Vec<(Option<Span>, Function)>,
    /// Where its braces are.
    pub body: Span,
}
