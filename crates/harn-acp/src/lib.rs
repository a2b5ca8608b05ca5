//! Harn as an agent that editors plug in: the Agent Client Protocol, on the official SDK.
//!
//! ```text
//! stdio, HTTP, WebSocket ─► agent: one connection ─► Server ─► session: one conversation
//!        (net, frames)          │ Peer: what we ask        │       │ TurnRunner: the program
//!                               ▼ and tell the client      │       ▼ on a thread of its own
//!                            client                        └─► log ◄── journal and events
//! ```
//!
//! The protocol is translated here and nothing is decided: which function runs, whether a call
//! is allowed and how it is stopped is the same for every host. A session is what its journal
//! says. We own cursors, subscriptions and requests that wait for an answer, and nothing else
//! that could disagree with it.
//!
//! | module    | what it holds                                                     |
//! |-----------|-------------------------------------------------------------------|
//! | `server`  | what all connections share: the program, the log, open sessions   |
//! | `agent`   | one connection: the methods that a client can call                |
//! | `session` | one conversation: its turns, its settings, its past               |
//! | `client`  | what is asked of the client, and what it tells a running program  |
//! | `bare`    | the host bridge alone, for programs without sessions of a client  |
//! | `wire`    | what the records of a session say to a client                     |
//! | `access`  | what callers of a listener may name                               |
//! | `limits`  | how much clients may have open at once                            |
//! | `link`    | the client, at the other end of the SDK's connection              |
//! | `peer`    | the client, as the rest of the crate sees it                      |
//! | `stdio`   | a connection over a pair of byte streams                          |
//! | `net`     | connections over HTTP and web sockets                             |
//! | `frames`  | what comes in from a client and goes out to it, within limits     |
//! | `error`   | the codes of the wire                                             |
//! | `versions`| the versions of what is spoken here                               |
//!
//! A handler runs inside the dispatch loop of the SDK, one at a time. It validates, hands the
//! work to a task and returns; one that waited for the client would wait for ever.

mod access;
mod agent;
mod bare;
mod client;
mod error;
mod frames;
mod limits;
mod link;
mod net;
mod peer;
mod server;
mod session;
mod stdio;
pub mod versions;
mod wire;

pub use access::Access;
pub use bare::{Bridge, BridgeOptions};
pub use limits::SessionLimits;
pub use net::Network;
pub use server::{Server, ServerOptions};
pub use session::Mode;
