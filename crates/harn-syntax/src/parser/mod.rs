//! From tokens to a tree.
//!
//! A parser by recursive descent, with precedence climbing for operators. It never fails:
//! a statement that cannot be read is reported and left out, and reading goes on with the
//! next one, in the same block.
//!
//! Three things keep it linear and its stack small, whatever the input:
//!
//! - whether braces are a closure or a dict depends on an arrow that may be far away, so
//!   [`Braces`] finds all arrows beforehand, in one pass;
//! - how deeply a program may be nested is bounded by [`NESTING_MAX`];
//! - an error is written down where it is found; what travels up is only the sign to [`Stop`].
//!
//! Newlines are tokens here. [`Parser::skip_newlines`] is called exactly where section 2.1 of
//! the specification lets a line end, and nowhere else.

mod braces;
mod cursor;
mod error;
mod expression;
mod item;
mod pattern;
mod primary;
mod statement;
mod string;
mod suffix;
mod types;

pub use error::{SYNTAX_CODES, SyntaxError};

use braces::Braces;

use crate::lexer::{LexError, lex};
use crate::position::LineIndex;
use crate::token::Token;
use crate::tree::{Module, Statement};
use error::Failure;

/// How deeply expressions, blocks and types may be nested. It keeps every walk over a tree
/// well within the smallest stack we run on.
pub const NESTING_MAX: usize = 128;

/// A text as a tree, and everything that is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The tree. Statements that could not be read are missing.
    pub module: Module,
    /// Lexical errors, then parse errors, each in source order.
    pub errors: Vec<SyntaxError>,
}

/// Reads a text.
///
/// ```
/// let parsed = harn_syntax::parse("let answer = 6 * 7\nlog(answer");
/// assert_eq!(parsed.module.statements.len(), 1);
/// assert_eq!(parsed.errors[0].message, "Unexpected end of file, expected )");
/// ```
pub fn parse(text: &str) -> Parsed {
    let lexed = lex(text);
    let mut parser = Parser::new(text, lexed.tokens);
    let statements = parser.module();
    Parsed {
        errors: errors(text, &lexed.errors, &parser.failures),
        module: Module {
            statements,
            comments: lexed.comments,
        },
    }
}

/// Lines are counted only if somebody has to be told one.
fn errors(text: &str, lexical: &[LexError], failures: &[Failure]) -> Vec<SyntaxError> {
    if lexical.is_empty() && failures.is_empty() {
        return Vec::new();
    }
    let lines = LineIndex::new(text);
    let lexical = lexical.iter();
    let lexical = lexical.map(|error| SyntaxError::lexical(error, text, &lines));
    let syntactic = failures.iter();
    let syntactic = syntactic.map(|failure| failure.report(text, &lines));
    lexical.chain(syntactic).collect()
}

/// Says that something could not be read. What and why has been written down already.
struct Stop;

type Parse<T> = Result<T, Stop>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    braces: Braces,
    /// The token that is looked at next.
    at: usize,
    /// Where the token before it ended.
    last_end: u32,
    /// How many levels deep we are.
    nesting: usize,
    failures: Vec<Failure>,
    /// How many declarations have been read.
    declarations: usize,
    /// How many `yield`s have been read, those of functions that are over not counted.
    yields: usize,
    /// How often a token was looked at: what reading costs, in a unit that does not depend on
    /// the machine.
    #[cfg(test)]
    looks: std::cell::Cell<usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Self {
            text,
            braces: Braces::find(&tokens),
            tokens,
            at: 0,
            last_end: 0,
            nesting: 0,
            failures: Vec::new(),
            declarations: 0,
            yields: 0,
            #[cfg(test)]
            looks: std::cell::Cell::default(),
        }
    }

    fn module(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        self.statements(&mut statements, statement::Place::Top);
        statements
    }
}

#[cfg(test)]
mod tests;
