//! What a program consists of.
//!
//! ```text
//! Module ─► Statement ─► Expression ─► Statement (closures, if, match, …)
//!               └► Item (declarations) ─► Type, Parameter, Block
//! ```
//!
//! The tree is owned and plain: every node says where it stands, names keep their text,
//! and nothing points upwards. Two things about its shape are deliberate:
//!
//! - **What can be long is flat.** Operators of one level, members and calls after a value,
//!   `else if` branches are each a list in one node, so that the depth of a tree is bounded
//!   by how deeply its source is nested, and the parser bounds that. Every walk may
//!   therefore use recursion.
//! - **What leaves no trace has no node.** Parentheses, commas, semicolons and line breaks
//!   are gone. The formatter puts them back; comments are kept beside the tree, in order.

mod expression;
mod item;
mod print;
mod statement;
mod types;

use smol_str::SmolStr;

pub use expression::{
    Argument, Binary, BinaryOp, Call, Catch, Closure, ClosureStyle, Deadline, DurationLiteral,
    Entry, Expression, ExpressionKind, If, Key, Match, MatchArm, Operand, Parallel, ParallelMode,
    Postfix, Range, Retry, Segment, StructLiteral, Suffix, SuffixKind, Ternary, Try, UnaryOp,
};
pub use item::{
    Attribute, AttributeArgument, AttributeValue, Bound, EnumItem, EvalPack, EvalPackEntry,
    EvalPackName, Field, Function, FunctionKind, Impl, Import, Interface, InterfaceMember, Item,
    ItemKind, Override, Parameter, Pipeline, Skill, SkillField, StructItem, Text, Tool, TypeAlias,
    TypeParameter, Variance, Variant,
};
pub use statement::{
    Assignment, Binding, Block, DictField, For, Guard, ListElement, LoopPattern, Pattern,
    PatternKind, Require, Select, SelectArm, Statement, StatementKind, While,
};
pub use types::{ShapeField, Type, TypeKind};

use crate::lexer::Comment;
use crate::position::Span;

/// A file as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// What stands at its top level, in order. Statements that could not be read are missing.
    pub statements: Vec<Statement>,
    /// Its comments, in order.
    pub comments: Vec<Comment>,
}

/// A name where it stands. Two names in one file never begin at the same byte, except that
/// one written once can play two parts, as in the pattern `{a}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The name.
    pub text: SmolStr,
    /// Where it is.
    pub span: Span,
}

impl Name {
    /// Whether it is `_`, which binds nothing.
    pub fn is_discard(&self) -> bool {
        self.text == "_"
    }
}
