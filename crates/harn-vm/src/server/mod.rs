//! Servers of programs: certificates, and web sockets that others open.
//!
//! ```text
//! websocket_server ─► effect `web_server` ─► a listener ─► handshake ─► route? bearer?
//!                                                              │ 404, 401
//! websocket_accept ◄─ a number of `http::Sockets` ◄────────────┘ or an open socket
//! ```
//!
//! What happens on an open socket is not decided here: whoever opened it, it is one of
//! `http::Sockets`.

mod asked;
mod certificate;
mod handshake;
mod listener;
mod port;

pub(crate) use asked::address_of;
pub(crate) use certificate::certificate;
pub(crate) use port::ServerPort;
