//! Anthropic's Messages.
//!
//! ```text
//! Request ─► encode (messages: the turns, cache: the marks) ─► body
//! frames ─► decode ─► block: one per content block ─► StreamEvent
//! ```
//!
//! An answer is a list of blocks. Each is given out piece by piece while it grows, and once
//! more as a whole when it is finished, because the provider must get back exactly what it
//! said. Structured output is a tool called [`JSON_TOOL`] that the model is made to call; to
//! everybody else its input is text.

mod block;
mod cache;
mod decode;
mod encode;
mod failure;
mod messages;
#[cfg(test)]
mod tests;

pub(super) use decode::Decoder;
pub(super) use encode::encode;

/// The tool whose input is the answer when the answer has to be JSON.
const JSON_TOOL: &str = "json_response";

/// How the names of the provider's own searches among tools begin.
const SEARCH_TOOL_PREFIX: &str = "tool_search_tool_";
