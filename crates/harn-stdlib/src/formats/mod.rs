//! Data formats besides JSON.
//!
//! ```text
//! csv ─── rows of cells         toml ── configuration        yaml ── configuration
//! junit ─ what tests came to    multipart ── forms that browsers and clients send
//! ```
//!
//! What a format cannot say is an error with a reason. Values nest as deeply as memory allows,
//! and texts come from anywhere, so reading and writing keep lists of what is open, or say
//! how deep is too deep.

mod csv;
mod junit;
mod multipart;
mod toml;
mod yaml;

use harn_machine::{Registry, Value};

pub(crate) fn register(registry: &mut Registry) {
    csv::register(registry);
    junit::register(registry);
    multipart::register(registry);
    toml::register(registry);
    yaml::register(registry);
}

/// The value of the one YAML document in a text, for those who read more than programs do.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn yaml_value(text: &str) -> Result<Value, String> {
    yaml::read(text)
}

/// The line and the column of a place in a text, both from one. Columns count bytes.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|octet| **octet == b'\n').count() + 1;
    let start = before.iter().rposition(|octet| *octet == b'\n');
    (line, before.len() - start.map_or(0, |start| start + 1) + 1)
}

#[cfg(test)]
mod tests;
