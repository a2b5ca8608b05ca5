//! Whole programs, as an embedder runs them. One program, because to link is what takes long
//! about a test.

mod bodies;
mod host;
#[cfg(feature = "net")]
mod http;
mod interrupts;
mod loaded;
mod people;
mod skills;
mod state;
#[cfg(feature = "net")]
mod web_server;
