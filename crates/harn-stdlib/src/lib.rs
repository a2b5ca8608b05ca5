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

use harn_machine::Registry;

/// Every body.
pub fn registry() -> Registry {
    Registry::default()
}
