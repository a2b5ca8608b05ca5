//! Google's Gemini.
//!
//! ```text
//! Request ─► encode (contents: the turns, schema: what it refuses taken out) ─► body
//! frames ─► decode ─► arguments: pieces of calls put together ─► StreamEvent
//! ```
//!
//! An answer is a list of parts. The provider proves its thoughts with signatures that stay on
//! the part they came on, so every part is kept as it came; only pieces of plain text that
//! follow each other become one. Calls need no ids here: they are told apart by their order.

mod arguments;
mod contents;
mod decode;
mod encode;
mod failure;
mod schema;
#[cfg(test)]
mod tests;

pub(super) use decode::Decoder;
pub(super) use encode::encode;
