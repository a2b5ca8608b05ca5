//! Servers of tools that speak the Model Context Protocol, as a client sees them.
//!
//! ```text
//! Servers ─► Server: starts, restarts, remembers ─► Link: one live connection
//!                                                     │  rmcp: ids, lifecycles, messages
//!                          stdio: process, frames ◄───┴───► http: streamable HTTP, OAuth
//! ```
//!
//! Two generations of the protocol are in use. The first begins with a handshake, after which
//! both sides send requests; since 2026-07-28 every request stands alone and a server that wants
//! to know something answers with a question. Which one a server speaks is found out once.
//!
//! This crate translates. Whether a call is allowed, what is journaled, who is asked and what a
//! model sees is decided by the runtime, which knows servers by the traits of
//! [`harn_agent::tool_servers`] alone. The page `protocols/mcp.md` of the book explains the
//! design.

pub mod auth;
mod call;
mod card;
mod failure;
pub mod fetcher;
mod forgetful;
mod handler;
mod http;
mod in_flight;
mod link;
mod lists;
mod rounds;
mod schema;
mod server;
mod servers;
mod stdio;
mod tasks;
mod watched;

#[cfg(test)]
mod testing;

pub use http::{Proxies, Web};
pub use servers::{BeforeStart, Servers, Surroundings};
pub use stdio::Patience;
