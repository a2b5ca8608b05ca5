//! What builtins and methods do.
//!
//! ```text
//! harn-check: what they are called and take ─┐
//! this crate: what they do ──────────────────┴─► Registry ─► Isolate
//! ```
//!
//! What needs no callback is Rust; what calls a function of the program is Harn, in
//! `harn/*.harn`, so that the callback is a call like any other: it can fail, wait and be
//! interrupted.

mod atomics;
mod breakers;
mod channels;
mod locks;
mod mailboxes;
mod runtime_context;
mod scopes;
mod shared;
mod supervisors;
mod tasks;
mod templates;

use harn_machine::Registry;

/// Every body.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    atomics::register(&mut registry);
    breakers::register(&mut registry);
    channels::register(&mut registry);
    locks::register(&mut registry);
    mailboxes::register(&mut registry);
    runtime_context::register(&mut registry);
    scopes::register(&mut registry);
    shared::register(&mut registry);
    supervisors::register(&mut registry);
    tasks::register(&mut registry);
    templates::register(&mut registry);
    registry
}
