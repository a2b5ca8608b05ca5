//! Agents, as programs reach them.
//!
//! ```text
//! builtin: values to JSON, closures to handles ─► effect `agent` ─► port ─► harn-agent
//!                    ▲                                                        │ calls back
//!                    └──────────── a fiber of the program ◄── ClosureHandle ──┘
//! ```
//!
//! A loop is a future. It is polled on the thread of the program, between the steps of its
//! fibers, so calling a tool that is written in Harn costs no change of threads.

mod artifacts;
mod background;
mod builtins;
mod closure;
mod command_rules;
mod confinement;
mod convert;
mod daemons;
mod guard;
mod known;
mod manifest;
mod options;
mod port;
mod question;
mod searches;
mod workers;
mod workspace;

pub use options::AgentOptions;

pub(crate) use builtins::{ask, register};
pub(crate) use confinement::Confinement;
pub(crate) use manifest::hooks as manifest_hooks;
pub(crate) use port::{AgentPort, IfGivenUp};

/// The kind of effects that are for the port.
pub(crate) const KIND: &str = "agent";

/// The value of a task that says in which session's loop it runs.
const SESSION: &str = harn_stdlib::AGENT_SESSION;

/// The value of a task that says that a policy is in force.
const POLICY: &str = "__agent_policy";

/// The value of a task that says how many readers of events deep it is.
const SUBSCRIBER_DEPTH: &str = "__subscriber_depth";
