//! Ollama's own wire.
//!
//! Close to Chat Completions, with lines of JSON instead of events, arguments as objects and
//! calls that come whole and mostly without ids. What this wire keeps of an answer is one
//! object with the keys that an assistant message gets besides its text and calls.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::encode;
