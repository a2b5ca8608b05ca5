//! Servers that lend tools: programs and services that speak a protocol of their own.
//!
//! ```text
//! loop, builtins ─► Pool: names, references, lazy starts ─► ToolServer ─► the protocol
//!        ▲                                                      │
//!        └── events, questions to people ◄── SessionClient ◄────┘ notices, requests
//! ```
//!
//! The runtime knows servers by these traits alone. Whoever embeds it brings an implementation
//! ([`ToolServers`]), so nothing here depends on a protocol and a test can bring its own.
//! What is said about a server is a [`ServerConfig`]; its variables and headers are secrets,
//! which are typed as such and never shown.

mod asking;
pub(crate) mod builtins;
pub(crate) mod calling;
mod client;
mod config;
mod error;
pub(crate) mod offer;
mod pins;
mod pool;
mod port;
mod texts;

pub use config::{
    Endpoint, HANDSHAKE_VERSIONS, HttpEndpoint, MODERN_VERSION, ProtocolChoice, Sampling,
    ServerConfig, ServerLimits, StdioEndpoint,
};
pub use error::ServerError;
pub(crate) use pins::{ApprovedTools, Withheld};
pub use pins::{PinnedServer, ToolDigests, ToolPins, tool_digest};
pub(crate) use pool::Pool;
pub use port::{
    CallJournal, CallResult, Capabilities, Generation, Listed, ServerCall, ServerClient,
    ServerFacts, ServerNotice, ServerRequest, ToolServer, ToolServers,
};
pub(crate) use texts::skeleton;
