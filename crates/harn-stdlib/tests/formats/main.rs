//! Formats against what others say about them.
//!
//! ```text
//! suites.rs    the suites of JSON, JSON Schema and YAML
//! toml.rs      the suite of TOML
//! python.rs    the libraries of Python, on values that we make up
//! ```
//!
//! The suites of `suites.rs` and the YAML of Python are installed by `cargo xtask peers`.

mod python;
mod same;
mod suites;
mod toml;
mod world;
