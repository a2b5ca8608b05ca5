//! Texts.
//!
//! ```text
//! functions   format, split, substring (by length), str_pad, dirname …
//! methods     of the text itself: split (by ","), substring (by end), pad_left …
//! spelling    snake_case, camelCase and their like
//! ```
//!
//! Positions count characters, which for most texts are bytes; texts know whether they are.

mod format;
mod functions;
mod methods;
mod spelling;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Registry, Value};

use crate::growing::texts;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[("format", format::format)]);
    functions::register(registry);
    methods::register(registry);
    spelling::register(registry);
}

/// A text with every occurrence of one text replaced by another.
fn replaced(context: &mut Context<'_>, text: &str, old: &str, new: &str) -> Result<Value, Failure> {
    let grows = new.len().saturating_sub(old.len());
    let count = match grows {
        0 => 0,
        _ => text.matches(old).count(),
    };
    context.reserve(text.len().saturating_add(count.saturating_mul(grows)))?;
    Ok(text.replace(old, new).into())
}

/// The pieces of a text between separators. An empty separator is found around every character.
fn pieces(context: &mut Context<'_>, text: &str, separator: &str) -> Result<Value, Failure> {
    texts(context, text.split(separator))
}

/// A text that is made of another one and has about its length.
fn remade(
    context: &mut Context<'_>,
    text: &str,
    remake: impl FnOnce(&str) -> String,
) -> Result<Value, Failure> {
    context.reserve(text.len())?;
    Ok(remake(text).into())
}

/// The position of a character whose byte offset is known.
fn position(text: &Text, offset: usize) -> usize {
    match text.is_single_byte() {
        true => offset,
        false => text[..offset].chars().count(),
    }
}
