//! What a program means, as far as one can tell without running it.

pub mod builtins;
mod imported;
pub mod modules;
mod refusals;
mod types;

pub use imported::Imported;
pub use refusals::{Refusal, refusals};
pub use types::{
    Aliases, Applied, CheckOptions, Checked, FunctionTy, Schema, SchemaField, Shape, ShapeField,
    TYPE_CODES, Ty, Union, check_types, inspect_types, schema_of_parameter, schema_of_type,
};
