//! OpenAI's Chat Completions, and the many servers that copy it.
//!
//! ```text
//! encode    Request ─► message (turns) + thinking + tools ─► body
//! decode    chunk ─► text, thoughts, pieces of calls ─► StreamEvent
//! ```
//!
//! Nearly all chunks hold a few words and nothing else, so those take shorter ways: one that
//! differs from the last in its text alone is only compared with it ([`likeness`]), and one
//! without surprises is read without building a tree ([`plain`]).
//!
//! The copies differ most in how they send calls, so putting pieces of calls together has
//! its own file, [`calls`]. Errors inside an answer look alike on several wires; [`failure`]
//! reads them for all of those.
//!
//! What this wire keeps of an answer is one object with the keys that an assistant message
//! gets besides its text and calls, such as `reasoning_content`. They go back only to models
//! that want their earlier thoughts, because others refuse them.
//!
//! `<think>` inside of text is left to the splitter above.

mod calls;
mod decode;
mod encode;
pub(super) mod failure;
mod likeness;
mod message;
mod plain;
mod reasoning;

pub(super) use decode::Decoder;
pub(super) use encode::{encode, function_tool, http_request};
pub(super) use message::{arguments_text, image_url, joined_text};
