//! What agents do when a person runs a program with `harn`.

mod daemons;
mod hooks;
mod interrupted;
mod malformed;
mod subscribers;
mod workers;
