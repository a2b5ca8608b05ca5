//! Harn as an agent, seen by a client: raw lines of JSON over a pipe, with scripted models.

mod cancelling;
mod choosing;
mod client;
mod errors;
mod introduction;
mod sessions;
mod turns;
