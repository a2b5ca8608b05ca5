//! What a program does, step by step.

use super::{BinaryOp, Expression, Item, Name, Type};
use crate::position::Span;

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its statements in order.
    pub statements: Vec<Statement>,
    /// Where it is, with its braces.
    pub span: Span,
    /// Whether something is declared in it, however deep inside. Mostly nothing is, and then
    /// whoever looks for declarations need not look any further.
    pub declares: bool,
    /// Whether it contains `yield`, functions and closures inside it not counted.
    pub yields: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it is, from its first token (attributes included) to its last.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// An expression; also `if`, `match`, `try`, `retry`, `parallel` and `deadline`.
    Expression(Expression),
    /// A declaration.
    Item(Box<Item>),
    /// `let` or `var`
    Binding(Box<Binding>),
    /// `target = e`, `target += e`
    Assignment(Box<Assignment>),
    /// `for`
    For(Box<For>),
    /// `while`
    While(Box<While>),
    /// `select`
    Select(Box<Select>),
    /// `guard c else { … }`
    Guard(Box<Guard>),
    /// `require c, m`
    Require(Box<Require>),
    /// `mutex { … }`
    Mutex(Block),
    /// `defer { … }`
    Defer(Block),
    /// `return e`
    Return(Option<Expression>),
    /// `throw e`
    Throw(Expression),
    /// `yield e`
    Yield(Option<Expression>),
    /// `emit e`
    Emit(Expression),
    /// `break`
    Break,
    /// `continue`
    Continue,
}

/// `let pattern: type = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Whether it is `var`.
    pub mutable: bool,
    /// What is bound.
    pub pattern: Pattern,
    /// Its declared type; only a single name has one.
    pub ty: Option<Type>,
    /// What it is bound to.
    pub value: Expression,
}

/// What takes a value apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// How.
    pub kind: PatternKind,
    /// Where it is.
    pub span: Span,
}

/// How a value is taken apart.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `name`: not at all.
    Name(Name),
    /// `{a, b: c = 1, ...rest}`
    Dict {
        /// The fields.
        fields: Vec<DictField>,
        /// What the others are called.
        rest: Option<Name>,
    },
    /// `[a, b = 1, ...rest]`
    List {
        /// The elements.
        elements: Vec<ListElement>,
        /// What the others are called.
        rest: Option<Name>,
    },
}

/// `field: alias = default`
#[derive(Clone, Debug, PartialEq)]
pub struct DictField {
    /// The field that is read.
    pub field: Name,
    /// What it is bound to, if not to its own name.
    pub alias: Option<Name>,
    /// The value if it is missing or nil.
    pub default: Option<Expression>,
}

impl DictField {
    /// The name that is bound.
    pub fn bound(&self) -> &Name {
        self.alias.as_ref().unwrap_or(&self.field)
    }
}

/// `name = default`
#[derive(Clone, Debug, PartialEq)]
pub struct ListElement {
    /// The name that is bound.
    pub name: Name,
    /// The value if it is missing or nil.
    pub default: Option<Expression>,
}

/// `target = value` or `target += value`
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// A name, or a postfix expression that ends in a plain member or index.
    pub target: Expression,
    /// The operator before the `=`: add, subtract, multiply, divide or remainder.
    pub op: Option<BinaryOp>,
    /// The value.
    pub value: Expression,
}

/// `for pattern in source { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What each item is called.
    pub pattern: LoopPattern,
    /// Where the items come from.
    pub source: Expression,
    /// What is done with each.
    pub body: Block,
}

/// What the item of a loop is called.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopPattern {
    /// As in a binding.
    One(Pattern),
    /// `(a, b)`
    Pair(Name, Name),
}

/// `while condition { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// As long as it holds.
    pub condition: Expression,
    /// What is done.
    pub body: Block,
}

/// `select { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Its cases in order, one at least.
    pub arms: Vec<SelectArm>,
}

/// A case of a `select`.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectArm {
    /// `name from channel { … }`
    Receive(Name, Expression, Block),
    /// `timeout time { … }`
    Timeout(Expression, Block),
    /// `default { … }`
    Default(Block),
}

/// `guard condition else { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// What must hold.
    pub condition: Expression,
    /// What happens if it does not.
    pub otherwise: Block,
}

/// `require condition, message`
#[derive(Clone, Debug, PartialEq)]
pub struct Require {
    /// What must hold.
    pub condition: Expression,
    /// What is thrown if it does not.
    pub message: Option<Expression>,
}
