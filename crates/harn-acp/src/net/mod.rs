//! Clients on the network: HTTP with event streams, and web sockets, at one endpoint.
//!
//! ```text
//! POST   ─► gate ─► inlet ─► agent      GET, an event stream ◄─ streams ◄─ agent
//! DELETE ─► close                       GET, a web socket    ◄► gate, outbox ◄► agent
//! ```
//!
//! Who may connect at all is decided before, by `harn_listen`. The rules for frames are those
//! of every transport, see [`frames`](crate::frames). What is particular to the network:
//!
//! - A web socket is one connection. It is pinged, because a peer that vanished says nothing.
//! - Over HTTP a connection is an id. Messages of the agent go out on event streams, one for
//!   the connection and one for each session; [`streams`] says which. A connection without a
//!   stream and without a request for a while counts as dropped.
//! - Connections come and go, sessions stay: the server keeps them for a while.
//!
//! The published server for this transport keeps messages in queues without an end and never
//! learns that a client has gone, so it is not used; the headers and verbs are the documented
//! ones, which are all that clients rely on.

mod connection;
mod http;
mod hub;
mod network;
mod routes;
mod serve;
mod socket;
mod streams;

use hub::Hub;
pub use network::Network;

#[cfg(test)]
mod tests;
