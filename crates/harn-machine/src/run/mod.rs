//! Running fibers.
//!
//! ```text
//! interpret: the loop over instructions ─┬─ arithmetic, access, build: what one instruction does
//!                                        ├─ call: entering and leaving functions, builtins
//!                                        ├─ iterate: loops and generators
//!                                        ├─ tasks: spawn, parallel, select
//!                                        └─ unwind: errors on their way
//! ```

mod access;
mod arithmetic;
mod build;
mod call;
mod control;
mod deferred;
mod each;
mod interpret;
mod interrupt;
mod loops;
mod register;
mod tasks;
mod uncommon;
pub(crate) mod undefined;
mod unwind;

pub(crate) use call::{prepare, prepare_call};
pub(crate) use interpret::{Stop, run};
pub(crate) use tasks::Group;

/// How long a task that was asked to stop may wait for something, in milliseconds.
pub(crate) const GRACE_MS: i64 = 250;
/// How many times a task that was asked to stop may be checked before it must.
pub(crate) const GRACE_CHECKS: u32 = 2;
