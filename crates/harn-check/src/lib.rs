//! What a program means, as far as one can tell without running it.

pub mod builtins;
mod imported;
pub mod modules;

pub use imported::Imported;
