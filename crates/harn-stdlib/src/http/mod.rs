//! HTTP, as programs use it.
//!
//! ```text
//! builtin ─► options ─► request ─► journey ─► mock, or egress check ─► effect ─► reply
//! ```
//!
//! Everything that can be decided without the network is decided here: what is sent, where it
//! may go, whether it goes again, where a redirect leads. The world below sends one request at
//! a time and says what came back.

pub(crate) mod egress;
pub(crate) mod header;
pub(crate) mod mock;
pub(crate) mod options;
pub(crate) mod sessions;
pub(crate) mod streams;

mod download;
mod journey;
mod multipart;
pub(crate) mod redirect;
pub(crate) mod reply;
pub(crate) mod request;
mod requests;
mod retry;

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    download::register(registry);
    egress::register(registry);
    mock::register(registry);
    requests::register(registry);
    sessions::register(registry);
    streams::register(registry);
}
