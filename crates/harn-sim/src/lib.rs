//! Fake parts of a machine, decided by one seed, and what breaks on them.
//!
//! ```text
//! random    chance that can be repeated
//! disk      a disk that fails, forgets and dies as it is told
//! campaign  breaks a log in every way we can think of, kills `harn` in its sessions, and checks
//!           what is left
//! agents    runs agents with a model, tools and readers that misbehave
//! ```
//!
//! Only tests and the `harn-crash` program depend on this crate.

pub mod agents;
pub mod campaign;
mod disk;
mod random;
mod wait;

pub use disk::{Crash, Fault, FaultKind, SimDisk};
pub use random::Random;
pub use wait::block_on;
