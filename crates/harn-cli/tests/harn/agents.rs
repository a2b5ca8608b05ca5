//! What agents do when a person runs a program with `harn`.

mod hooks;
mod malformed;
mod workers;
