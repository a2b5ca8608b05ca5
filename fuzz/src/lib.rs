//! What the fuzz targets share.
//!
//! ```text
//! bytes ──► files ──► disk ──► recover_file_log
//!     ├───► source ──────────► lex, parse, format, check, template
//!     └───► wires ───────────► wire_anthropic, wire_chat, …
//! ```
//!
//! The generator of random programs and the promises of the formatter are those of the
//! tests of `harn-syntax`: there is one place that says what holds of every program.

pub mod disk;
pub mod files;
pub mod repeat;
pub mod source;
pub mod spans;
pub mod wires;
pub mod words;

#[path = "../../crates/harn-syntax/tests/format"]
mod format {
    pub(crate) mod program;
    pub(crate) mod promises;
}

/// Formats a program, and checks everything that must hold of it afterwards.
pub fn check_format(text: &str, width: usize) {
    format::promises::formatted(text, width);
}
