//! What programs ask of their servers of web sockets.

use serde::Deserialize;

/// What a program asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Asked {
    /// Opens a server.
    Listen { address: String },
    /// Lets a server accept a path.
    Route {
        server: u64,
        path: String,
        #[serde(flatten)]
        route: Route,
    },
    /// The next socket that somebody opens.
    Accept { server: u64, timeout_ms: u64 },
    /// Closes a server.
    Close { server: u64 },
}

/// The address that somebody wants to listen at, if that is what is asked.
pub(crate) fn address_of(payload: &str) -> Option<String> {
    match serde_json::from_str(payload) {
        Ok(Asked::Listen { address }) => Some(address),
        _ => None,
    }
}

/// Whose sockets a path accepts, and what they may do.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Route {
    /// What whoever opens a socket has to know.
    pub(super) bearer: Option<String>,
    pub(super) message_bytes_max: usize,
    /// How many messages may wait to be written.
    pub(super) outgoing_max: usize,
    /// How long nothing may go either way; 0: for ever.
    pub(super) idle_ms: u64,
}
