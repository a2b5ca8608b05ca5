//! Harn as an agent, seen by a client: raw lines of JSON over a pipe, with scripted models.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asking;
mod bare;
mod cancelling;
mod choosing;
mod client;
mod closing;
mod errors;
mod introduction;
mod limits;
mod network;
mod permission;
mod sessions;
mod turns;
