//! The gradual type system: what can be said about the types of a program before it runs.
//!
//! ```text
//! tree ──► Declarations ──► Checker ──► diagnostics, types of names
//!                              ├── infer: the type of an expression
//!                              ├── compatible: may this type stand for that one?
//!                              ├── narrow: what conditions tell about variables
//!                              └── environment: the names in scope
//! ```
//!
//! Annotations are optional everywhere. An expression whose type is not known is *dynamic*
//! and compatible with everything, so a program without annotations is almost never wrong.
//! The checker never changes what a program does; [`schema_of_parameter`] says which
//! annotations the machine enforces.

mod binding;
mod check;
mod checker;
mod codes;
mod compatible;
mod declarations;
mod environment;
mod exhaustive;
mod exits;
mod infer;
mod interface;
mod known;
mod literals;
mod lower;
mod narrow;
mod print;
mod schema;
mod signature;
mod suggest;
mod ty;
mod variance;

use harn_syntax::tree::Module;
use harn_syntax::{Diagnostic, Span};

pub use codes::TYPE_CODES;
pub use harn_options::distance_within;
pub use schema::{Aliases, Schema, SchemaField, schema_of_parameter, schema_of_type};
pub(crate) use suggest::suggest;
pub use ty::{Applied, FunctionTy, Shape, ShapeField, Ty, Union};

use crate::Imported;
use checker::Checker;

/// How strictly a file is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Whether to warn where values from outside are used without validation.
    pub strict_types: bool,
    /// Whether to tell of what a run finds out by itself and can catch, such as an option that a
    /// builtin refuses.
    pub before_a_run: bool,
}

/// What a check found out.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Errors and warnings, in the order in which they were met.
    pub diagnostics: Vec<Diagnostic>,
    /// Where names are and what they are, in the order of the text.
    types: Vec<(Span, Ty)>,
}

impl Checked {
    /// The type of the name at that byte, if it is known, and where the name is.
    pub fn type_at(&self, offset: u32) -> Option<(Span, &Ty)> {
        let after = self.types.partition_point(|(span, _)| span.start <= offset);
        let (span, ty) = self.types[..after].last()?;
        (offset < span.end).then_some((*span, ty))
    }
}

/// Everything there is to say about the types of an entry file.
pub fn check_types(module: &Module, imported: &Imported, options: CheckOptions) -> Vec<Diagnostic> {
    let checker = Checker::new(module, imported, options);
    checker.run(module).diagnostics
}

/// The same, with the types of names for editors.
pub fn inspect_types(module: &Module, imported: &Imported, options: CheckOptions) -> Checked {
    let checker = Checker::new(module, imported, options);
    checker.with_types().run(module)
}
