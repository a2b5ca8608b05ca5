//! What a program means, as far as one can tell without running it.
//!
//! ```text
//! files ──► modules: graph, imports ──► types ──► refusals ──► resolve ──► what can be compiled
//!                                        └──────► lint
//! ```
//!
//! Nothing here runs a program or knows how to. What the language brings along is data in
//! [`builtins`], read by everybody who needs to know.

mod analysis;
pub mod builtins;
mod codes;
mod explain;
mod imported;
mod lint;
pub mod modules;
mod refusals;
pub mod resolve;
mod types;

pub use analysis::{Analysis, Phase, analyse, error_of};
pub use codes::{CodeGroup, code_groups};
pub use explain::{explain, pages};
pub use imported::Imported;
pub use lint::{LintOptions, Rule, lint, rules};
pub use refusals::{REFUSAL_CODES, Refusal, refusals};
pub use types::{
    Aliases, Applied, CheckOptions, Checked, FunctionTy, Schema, SchemaField, Shape, ShapeField,
    TYPE_CODES, Ty, Union, check_types, distance_within, inspect_types, schema_of_parameter,
    schema_of_type,
};
