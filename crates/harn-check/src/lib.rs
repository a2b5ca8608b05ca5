//! What a program means, as far as one can tell without running it.

pub mod builtins;
mod imported;
pub mod modules;
mod refusals;

pub use imported::Imported;
pub use refusals::{Refusal, refusals};
