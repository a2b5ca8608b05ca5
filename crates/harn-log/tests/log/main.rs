//! What logs promise, whatever they are kept in. One program, because to link is what takes
//! long about a test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod configured;
#[cfg(all(feature = "sqlite", feature = "nats"))]
mod contract;
mod file;
#[cfg(feature = "sqlite")]
mod model;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "nats")]
mod nats_lease;
#[cfg(feature = "sqlite")]
mod processes;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "sqlite")]
mod sqlite_ahead;
mod support;
