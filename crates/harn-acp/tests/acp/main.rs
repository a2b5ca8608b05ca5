//! Harn as an agent, seen by a client: raw lines of JSON over a pipe, with scripted models.

mod client;
mod turns;
