//! The client against servers that behave, and against servers that do not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod behaving;
mod misbehaving;
mod stage;
