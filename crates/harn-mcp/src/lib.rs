//! Tool servers for agents.

pub mod auth;
mod card;
pub mod fetcher;
mod http;

pub use http::{Proxies, Web};


#[cfg(test)]
mod testing;
