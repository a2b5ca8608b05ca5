//! Which files a program is made of, and what they have from each other.
//!
//! ```text
//! Workspace ── parsed ──── a file as a tree
//!           ├─ imports ─── where its imports lead
//!           ├─ exports ─── what others can import from it
//!           ├─ imported ── what it gets, for the checker
//!           ├─ bindings ── which functions it gets, for the machine
//!           └─ load_plan ─ which modules run in which order, for the machine
//! ```
//!
//! Every answer is remembered with what it was made from (see `memo`), so that after an edit
//! only what can differ is made again: a body that changes concerns nobody who imports the
//! module, a new `pub fn` concerns them all. [`Checks`] carries that on to whatever looks at
//! single files, such as the checker. The workspace reads files through a
//! [`FileSource`] and knows nothing about time, threads or editors.

mod bindings;
mod checks;
mod clean;
mod database;
mod diagnostics;
mod error;
mod exports;
mod imported;
mod inputs;
mod load_plan;
mod memo;
mod memory;
mod outline;
mod package;
mod problems;
mod queries;
mod reachable;
mod resolve;
mod source;
mod source_file;
mod standard;
mod workspace;

pub use bindings::BoundFunction;
pub use checks::Checks;
pub use database::Computations;
pub use diagnostics::IMPORT_CODES;
pub use error::{ImportError, ModuleFault, Unreadable};
pub use exports::{ExportedFunction, ExportedType, Exports};
pub use load_plan::{LoadFailure, LoadPlan};
pub use memory::MemoryFiles;
pub use outline::ImportDeclaration;
pub use problems::ImportProblem;
pub use resolve::ResolvedImport;
pub use source::{Disk, FileSource};
pub use source_file::SourceFile;
pub use standard::{standard_modules, standard_text};
pub use workspace::Workspace;
