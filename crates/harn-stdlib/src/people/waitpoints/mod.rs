//! Waitpoints: things to wait for that somebody else completes or cancels.
//!
//! ```text
//!                   complete ─► completed
//! create ─► open ──┤
//!                   cancel ───► cancelled
//! ```
//!
//! There are two interfaces to the same waitpoints. Those of `std/waitpoint` carry a value and
//! throw; the builtins tell how a wait ended. The log decides: if two processes end a waitpoint,
//! the first one to be written has done it.

mod book;
mod builtins;
mod module;
mod point;

use harn_machine::Registry;

pub(super) use book::{Book, cancel, complete, create};
pub(super) use point::Status;

pub(super) fn register(registry: &mut Registry) {
    builtins::register(registry);
    module::register(registry);
}
