//! What gets in the way of people, and what would help them.
//!
//! ```text
//! payload ─► event ─► log of the run ─► suggestion ─► manifest of a context pack
//!              └─ redact
//! ```

mod event;
mod fixture;
mod log;
mod manifest;
mod redact;
mod suggest;

use harn_machine::Registry;
use harn_machine::Value;
use harn_machine::value::Dict;

pub(crate) use redact::value as redacted;

pub(crate) fn register(registry: &mut Registry) {
    event::register(registry);
    fixture::register(registry);
    log::register(registry);
    manifest::register(registry);
    suggest::register(registry);
}

/// A field that is text and not empty.
fn text_of<'a>(dict: &'a Dict, key: &str) -> Option<&'a str> {
    match dict.get(key) {
        Some(Value::Text(text)) if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    }
}

/// The words of a text, in lower case: runs of letters and digits.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
