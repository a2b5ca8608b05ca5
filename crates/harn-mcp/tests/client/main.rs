//! The client against servers that behave, and against servers that do not.

mod behaving;
mod misbehaving;
mod stage;
