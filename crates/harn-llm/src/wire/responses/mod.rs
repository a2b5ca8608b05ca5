//! OpenAI's Responses.
//!
//! ```text
//! encode    Request ─► input (items) + tools ─► body
//! decode    typed event ─► deltas; finished item ─► output ─► StreamEvent
//! ```
//!
//! Nothing is stored at the provider: every finished item of an answer is kept and goes back
//! to the letter, so that encrypted reasoning survives.

mod decode;
mod encode;
mod input;
mod output;

pub(super) use decode::Decoder;
pub(super) use encode::encode;
