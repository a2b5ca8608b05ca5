//! Every event that a loop can cause, caused for real.
//!
//! ```text
//! stage     a runtime with a scripted model or a scripted network, and a log
//! the rest  what happens on it, a file for each subsystem
//! ```
//!
//! A test names the events it proves when it sets its [`Stage`](stage::Stage). When the stage
//! goes, all of them must have been emitted, and everything in the log must be in order. The
//! page `docs/src/events/emitters.md` is made from these names by `cargo xtask gen`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod approvals;
mod artifacts;
mod budgets;
mod controls;
mod daemon;
mod daemons;
mod inputs;
mod iterations;
mod messages;
mod network;
mod options;
mod people;
mod published;
mod searches;
mod server_questions;
mod sessions;
mod skills;
mod skills_narrow;
mod stage;
mod streams;
mod tool_servers;
mod tools;
mod transcripts;
mod workers;
