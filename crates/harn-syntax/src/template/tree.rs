//! What a template consists of.
//!
//! What can be long is flat: operands of `and` and `or`, steps of a path, filters, branches.
//! The depth of a tree is therefore bounded by [`NESTING_MAX`](super::NESTING_MAX).

use smol_str::SmolStr;

use super::filter::Filter;
use crate::position::{Position, Span};

/// A template as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// What it consists of, in order. Comments are gone.
    pub nodes: Vec<Node>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it is: a text without what was trimmed, a directive with its braces, a block
    /// or raw text up to the braces that end it.
    pub span: Span,
    /// Where it begins, which is the `{{` of everything but a text. Errors name it.
    pub position: Position,
}

/// What a piece of a template is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Text outside directives, trimmed and not empty. It is copied.
    Text(SmolStr),
    /// `{{ raw }} … {{ endraw }}`: the text between. It is copied.
    Raw(SmolStr),
    /// `{{ name }}`: as a value, but copied as `{{name}}` when it is not bound.
    Name(SmolStr),
    /// `{{ expr }}`
    Value(Filtered),
    /// `{{ if e }} … {{ end }}`
    If(If),
    /// `{{ for x in e }} … {{ end }}`
    For(For),
    /// `{{ include e }}`
    Include(Include),
}

/// A conditional.
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The `if` and each `elif`. The first whose condition holds is taken.
    pub branches: Vec<Branch>,
    /// What stands after `else`; empty without one.
    pub otherwise: Vec<Node>,
}

/// `{{ if e }} …` or `{{ elif e }} …`
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// When it is taken.
    pub condition: Filtered,
    /// What stands in it.
    pub body: Vec<Node>,
    /// The `{{` of the `if` or `elif`.
    pub position: Position,
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What is bound in each turn.
    pub variables: LoopVariables,
    /// What is gone through.
    pub items: Filtered,
    /// What stands in it.
    pub body: Vec<Node>,
    /// What stands after `else`, for when there are no items; empty without one.
    pub otherwise: Vec<Node>,
}

/// What a loop binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopVariables {
    /// `for x in e`
    Item(SmolStr),
    /// `for k, v in e`: the key of a dict or the position from 0, and the item.
    KeyAndItem(SmolStr, SmolStr),
}

/// Another template in this place.
#[derive(Clone, Debug, PartialEq)]
pub struct Include {
    /// Which one.
    pub path: Filtered,
    /// What it sees besides everything that is bound here, in order.
    pub bindings: Vec<Binding>,
}

/// `key: e` after `with`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The name.
    pub key: SmolStr,
    /// What it is bound to.
    pub value: Filtered,
}

/// `e | filter | filter: a, b`
#[derive(Clone, Debug, PartialEq)]
pub struct Filtered {
    /// What goes into the first filter.
    pub value: Expression,
    /// The filters, in the order in which they apply.
    pub filters: Vec<FilterCall>,
}

/// A filter with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterCall {
    /// Which one.
    pub filter: Filter,
    /// As many as the filter takes.
    pub arguments: Vec<Expression>,
}

/// What has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// `42`, `-42`
    Int(i64),
    /// `1.5`, `-1.5`, and ints too large for an int.
    Float(f64),
    /// `"text"`, `'text'`: the text it stands for.
    String(SmolStr),
    /// `name.member[0]["key"]`
    Path(Path),
    /// `not e`, `!e`
    Not(Box<Expression>),
    /// `a == b`
    Compare(Comparison, Box<(Expression, Expression)>),
    /// `a and b and c`: the first that is not true, else the last. There are at least two.
    And(Vec<Expression>),
    /// `a or b or c`: the first that is true, else the last. There are at least two.
    Or(Vec<Expression>),
}

/// A way into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The name it begins with.
    pub root: SmolStr,
    /// Where it goes from there.
    pub steps: Vec<Step>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.name` or `["key"]`
    Key(SmolStr),
    /// `[0]`; negative ones count from the end.
    Index(i64),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}
