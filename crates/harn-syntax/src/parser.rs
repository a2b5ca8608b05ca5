//! From tokens to a tree.

use crate::diagnostic::Diagnostic;
use crate::position::{LineIndex, Span};
use crate::tree::Module;

/// A text as a tree, and everything that is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The tree. Statements that could not be read are missing.
    pub module: Module,
    /// Lexical errors, then parse errors, each in source order.
    pub errors: Vec<SyntaxError>,
}

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The error as it ends a run.
    pub message: String,
    /// The error as it is shown with its place.
    pub diagnostic: Diagnostic,
}

/// Reads a text.
pub fn parse(text: &str) -> Parsed {
    let _ = (LineIndex::new(text), Span::default());
    Parsed::default()
}
