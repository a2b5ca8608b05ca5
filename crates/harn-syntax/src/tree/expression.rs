//! What has a value.

use smol_str::SmolStr;

use super::{Block, Name, Parameter, Type};
use crate::position::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it is: without parentheses around the whole, with those around its parts.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// `42`
    Int(i64),
    /// `1.5`, and ints too large for an int.
    Float(f64),
    /// `250ms`
    Duration(DurationLiteral),
    /// `"text"` or `"""text"""` without interpolations: the text it stands for.
    String(SmolStr),
    /// `r"text"`
    RawString(SmolStr),
    /// `"a ${b} c"`
    Interpolated(Vec<Segment>),
    /// `name`, also the `_` of a pipe.
    Name(Name),
    /// `[a, ...b]`
    List(Vec<Argument>),
    /// `{a: 1, "b": 2, [c]: 3, ...d}`
    Dict(Vec<Entry>),
    /// `Point {x: 1}`
    Struct(Box<StructLiteral>),
    /// `{ x -> x }` or `fn(x) { x }`
    Closure(Box<Closure>),
    /// `name(a, ...b)`, `name<int>(a)`. What is called is always a name; methods are suffixes.
    Call(Box<Call>),
    /// `value.member?.method(a)[i]?`
    Postfix(Box<Postfix>),
    /// `!a`, `-a`
    Unary(UnaryOp, Box<Expression>),
    /// `a + b - c`: operators of one level, from left to right.
    Binary(Box<Binary>),
    /// `a to b`, `a to b exclusive`
    Range(Box<Range>),
    /// `c ? a : b`
    Ternary(Box<Ternary>),
    /// `if`
    If(Box<If>),
    /// `match`
    Match(Box<Match>),
    /// `try { … }` with or without `catch` and `finally`.
    Try(Box<Try>),
    /// `try* e`
    TryStar(Box<Expression>),
    /// `retry n { … }`
    Retry(Box<Retry>),
    /// `parallel`
    Parallel(Box<Parallel>),
    /// `spawn { … }`
    Spawn(Box<Block>),
    /// `deadline d { … }`
    Deadline(Box<Deadline>),
}

/// A span of time as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationLiteral {
    /// In milliseconds.
    Milliseconds(i64),
    /// More milliseconds than an int can hold. The compiler refuses it.
    TooLarge,
}

/// A piece of a string with interpolations.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// Text as it will be, escapes and indentation already dealt with. Also the source of an
    /// interpolation that is no expression.
    Text(SmolStr),
    /// `${e}`
    Expression(Expression),
}

/// An element of a list or an argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `e`
    One(Expression),
    /// `...e`
    Spread(Expression),
}

impl Argument {
    /// The expression, spread or not.
    pub fn expression(&self) -> &Expression {
        match self {
            Self::One(expression) | Self::Spread(expression) => expression,
        }
    }
}

/// An entry of a dict or a struct literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// `key: value`
    Field(Key, Expression),
    /// `...e`
    Spread(Expression),
}

/// How an entry is named.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// `name`
    Name(Name),
    /// `"text"`; the name's text is what it stands for, its span covers the quotes.
    String(Name),
    /// `[e]`
    Computed(Expression),
}

impl Key {
    /// The name, unless it is computed.
    pub fn name(&self) -> Option<&Name> {
        match self {
            Self::Name(name) | Self::String(name) => Some(name),
            Self::Computed(_) => None,
        }
    }
}

/// `Point {x: 1}`
#[derive(Clone, Debug, PartialEq)]
pub struct StructLiteral {
    /// The struct.
    pub name: Name,
    /// Its fields.
    pub entries: Vec<Entry>,
}

/// A function without a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// How it is written.
    pub style: ClosureStyle,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Block,
}

/// How a closure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosureStyle {
    /// `{ x -> … }`
    Braces,
    /// `fn(x) { … }`
    Fn,
}

/// `name<T>(a, b)`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub name: Name,
    /// Explicit type arguments; empty if there are none.
    pub type_arguments: Vec<Type>,
    /// What it is given.
    pub arguments: Vec<Argument>,
}

/// A value and what follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Postfix {
    /// The value; never itself a postfix expression.
    pub base: Expression,
    /// What follows, one at least, from left to right.
    pub suffixes: Vec<Suffix>,
}

/// Something after a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Suffix {
    /// What it is.
    pub kind: SuffixKind,
    /// Where it is, from its dot, bracket or question mark on.
    pub span: Span,
}

/// What a suffix is.
#[derive(Clone, Debug, PartialEq)]
pub enum SuffixKind {
    /// `.name` or `?.name`
    Member {
        /// The member.
        name: Name,
        /// Whether it is `?.`.
        optional: bool,
    },
    /// `.name(a)` or `?.name(a)`
    Method {
        /// The method.
        name: Name,
        /// Whether it is `?.`.
        optional: bool,
        /// What it is given.
        arguments: Vec<Argument>,
    },
    /// `[i]` or `?[i]`
    Index {
        /// The index.
        index: Expression,
        /// Whether it is `?[`.
        optional: bool,
    },
    /// `[a:b]`
    Slice {
        /// The first element.
        start: Option<Expression>,
        /// The element after the last.
        end: Option<Expression>,
    },
    /// `?`
    Try,
}

/// A sign before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Negate,
}

/// Operators of one level. They associate to the left: `((first op a) op b) op c`.
///
/// `**` associates to the right, so it stands alone: one operand in `rest`, which may itself
/// be a `**`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binary {
    /// The first operand; never a binary expression of the same level, unless it is `**`.
    pub first: Expression,
    /// The others, one at least, each with the operator before it.
    pub rest: Vec<Operand>,
}

/// An operator and its right operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The operator.
    pub op: BinaryOp,
    /// Where the operator is.
    pub op_span: Span,
    /// The operand.
    pub value: Expression,
}

macro_rules! binary_ops {
    ($($(#[$doc:meta])* $name:ident $text:literal $level:literal)*) => {
        /// An operator between two values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum BinaryOp {
            $($(#[$doc])* $name,)*
        }

        impl BinaryOp {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// How tightly it binds: the level of the specification's table, 1 the loosest.
            pub fn level(self) -> u8 {
                match self {
                    $(Self::$name => $level,)*
                }
            }
        }
    };
}

binary_ops! {
    /// Into a function.
    Pipe "|>" 1
    /// Either.
    Or "||" 4
    /// Both.
    And "&&" 5
    /// The same.
    Equal "==" 6
    /// Not the same.
    NotEqual "!=" 6
    /// Before.
    Less "<" 7
    /// After.
    Greater ">" 7
    /// Not after.
    LessEqual "<=" 7
    /// Not before.
    GreaterEqual ">=" 7
    /// Contained.
    In "in" 7
    /// Not contained.
    NotIn "not in" 7
    /// Sum.
    Add "+" 8
    /// Difference.
    Subtract "-" 8
    /// The left one unless it is nil.
    Coalesce "??" 9
    /// Product.
    Multiply "*" 10
    /// Quotient.
    Divide "/" 10
    /// Remainder.
    Remainder "%" 10
    /// Power, to the right.
    Power "**" 11
}

/// `start to end`
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first number.
    pub start: Expression,
    /// The last number, or the one after it.
    pub end: Expression,
    /// Whether the end is left out.
    pub exclusive: bool,
}

/// `condition ? then : otherwise`
#[derive(Clone, Debug, PartialEq)]
pub struct Ternary {
    /// What decides.
    pub condition: Expression,
    /// The value if it holds.
    pub then: Expression,
    /// The value if it does not.
    pub otherwise: Expression,
}

/// `if a { … } else if b { … } else { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The conditions with their blocks, one at least.
    pub branches: Vec<(Expression, Block)>,
    /// What happens if none holds.
    pub otherwise: Option<Block>,
}

/// `match value { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// What is looked at.
    pub value: Expression,
    /// What it may be.
    pub arms: Vec<MatchArm>,
}

/// `pattern | pattern if guard -> { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct MatchArm {
    /// Its patterns, written as expressions, one at least.
    pub patterns: Vec<Expression>,
    /// What must hold besides.
    pub guard: Option<Expression>,
    /// What happens.
    pub body: Block,
    /// Where it is.
    pub span: Span,
}

/// `try { … } catch (e: T) { … } finally { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// What may fail.
    pub body: Block,
    /// What happens then.
    pub catch: Option<Catch>,
    /// What happens in any case.
    pub finally: Option<Block>,
}

/// `catch (e: T) { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Catch {
    /// What the error is called.
    pub name: Option<Name>,
    /// Which errors are caught.
    pub ty: Option<Type>,
    /// What happens.
    pub body: Block,
}

/// `retry count { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// How often.
    pub count: Expression,
    /// What.
    pub body: Block,
}

/// `parallel each xs with { max_concurrent: n } { x -> … } as stream`
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// Over what it goes.
    pub mode: ParallelMode,
    /// The number or the list.
    pub source: Expression,
    /// The values given for `max_concurrent`; the last one counts.
    pub max_concurrent: Vec<Expression>,
    /// What the number or the element is called.
    pub variable: Option<Name>,
    /// What is done with each.
    pub body: Block,
    /// Whether the results come as a stream.
    pub as_stream: bool,
}

/// Over what a `parallel` goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParallelMode {
    /// `parallel n`
    Count,
    /// `parallel each xs`
    Each,
    /// `parallel settle xs`
    Settle,
}

/// `deadline time { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Deadline {
    /// How long at most.
    pub time: Expression,
    /// What.
    pub body: Block,
}
