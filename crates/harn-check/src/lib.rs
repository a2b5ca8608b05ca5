//! What a program means, as far as one can tell without running it.

pub mod builtins;
mod explain;
mod imported;
mod lint;

pub use explain::{explain, pages};
pub use imported::Imported;
pub use lint::{LintOptions, Rule, lint, rules};
