//! Harn as an agent that editors plug in.

#[allow(dead_code, reason = "the agent that uses it comes next")]
mod frames;
#[allow(dead_code, reason = "the agent that uses it comes next")]
mod net;

pub use net::Network;
