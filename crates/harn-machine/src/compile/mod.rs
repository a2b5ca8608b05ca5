//! From trees to functions.
//!
//! ```text
//! Module ─► declaration ─► function: one body after the other
//!                             ├─ block, loops, matching, attempt, exits: where control goes
//!                             ├─ expression, operator, literal, postfix, call: values
//!                             ├─ name, assignment, growth, pattern: where values are kept
//!                             └─ emit, registers: instructions and where operands are
//! ```
//!
//! The compiler walks the tree once and writes instructions as it goes. `harn-check` has
//! already found out where every name leads, so that nothing is looked up by name while a
//! program runs.
//!
//! The registers of a function:
//!
//! ```text
//! parameters │ slots of the resolver │ captures that are assigned │ top level │ temporaries ─►
//! ```
//!
//! Temporaries come and go like a stack. A call takes the uppermost ones as its arguments, and
//! they become the first registers of the function that is called, so nothing above them may
//! be in use.
//!
//! Whatever does not fit into an instruction makes the function too large. That is noted and
//! told at the end, so that nobody has to ask after every instruction.

mod assignment;
mod attempt;
mod block;
mod body;
mod call;
mod captures;
mod concurrency;
mod condition;
mod declaration;
mod dict;
mod emit;
mod exits;
mod expression;
mod function;
mod growth;
mod interner;
mod literal;
mod loops;
mod matching;
mod name;
mod operator;
mod pattern;
mod permits;
mod pipe;
mod postfix;
mod registers;
mod rounds;
mod schema;
mod search;
mod spans;
mod suggestion;
mod tool;
mod top;
mod unit;

#[cfg(test)]
mod tests;

use std::fmt;
use std::rc::Rc;

use harn_check::Imported;
use harn_check::resolve::{Resolved, Role};
use harn_syntax::tree::Module;

use crate::code::{Function, Source};

pub(crate) use interner::Interner;
pub(crate) use spans::speaks_of_tracing;

/// What every program starts with: the first globals of an isolate, in this order.
pub(crate) const PREDEFINED: [&str; 8] = harn_check::resolve::GLOBALS;

/// A file that is compiled.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The file.
    pub(crate) source: Rc<Source>,
    /// As what it is used.
    pub(crate) role: Role,
    /// The global of each name at its top level.
    pub(crate) globals: Vec<u32>,
    /// Its table of methods.
    pub(crate) module: u32,
    /// Whether what it does can be seen as spans.
    pub(crate) is_traced: bool,
}

/// Where a program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    /// With the pipeline `default`, or the first one, or with the file itself.
    Default,
    /// With the pipeline of that name.
    Pipeline(&'a str),
}

/// A file that can be run.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// Prepares the file. If there is a pipeline, it gives its closure.
    pub(crate) main: Rc<Function>,
}

/// Why a file cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompileError(pub(crate) String);

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}

/// Compiles a file whose names are resolved.
pub(crate) fn compile(
    module: &Module,
    resolved: &Resolved,
    imported: &Imported,
    unit: &Unit,
    entry: Entry<'_>,
    interner: &mut Interner,
) -> Result<Compiled, CompileError> {
    unit::Compiler::new(module, resolved, imported, unit, interner).run(entry)
}
