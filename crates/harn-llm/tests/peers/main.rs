//! Asks programs that nobody here wrote, and has our requests read by the SDKs of the
//! providers.
//!
//! ```text
//! llama.rs    llama.cpp with a scripted model: chat, anthropic, responses
//! aimock.rs   a mock of every provider's API: all wires, failures, what was sent
//! proxy.rs    litellm, which translates between two of the wires
//! sdk.rs      the types of the official SDKs, against what we send and what we read
//! ```
//!
//! `cargo xtask test` installs them, and `cargo xtask peers` does nothing else. Everything
//! happens on this machine.

mod aimock;
mod asking;
mod llama;
mod proxy;
mod sdk;
mod servers;
