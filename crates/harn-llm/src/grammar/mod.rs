//! How models that have no channel for calls write them in text, and how we tell them to.
//!
//! ```text
//! text ─► think ─► split ─┬─ <tool_call> ─► body ─► call ─► value
//!                         ├─ <assistant_prose>, <user_response>, <done>
//!                         └─ stray text ──► bare ─► call ─► value
//! ```
//!
//! [`parse`] reads a whole answer and decides what is run; [`Candidates`] watches the same
//! answer while it arrives and only announces. Both use the same readers, so that what was
//! announced is what is run. Models err in many ways; what can only be meant in one way is
//! mended and noted as a [`Repair`], everything else is an error in words the model can act on.
//! A call whose closing parenthesis never came is never run.

mod bare;
mod body;
mod call;
mod candidates;
mod close;
pub mod contract;
pub mod extract;
pub mod fenced;
mod json_calls;
mod names;
mod prose;
mod split;
mod tags;
mod texts;
pub mod think;
pub mod value;
pub mod visible;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use candidates::{Candidate, Candidates, Channel};
pub use names::ToolNames;
pub use split::parse;

/// What a whole answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The calls to make, in the order they were written.
    pub calls: Vec<ParsedCall>,
    /// How the answer departs from the protocol; feedback for the model, never fatal.
    pub violations: Vec<String>,
    /// Calls that could not be read and are not made.
    pub errors: Vec<String>,
    /// The body of `<done>`, where it is not empty.
    pub done_marker: Option<String>,
    /// The bodies of `<user_response>`, if there is such a block.
    pub user_response: Option<String>,
    /// What people may see.
    pub prose: String,
    /// The answer as it should have been written; `None` where it has none of the tags.
    pub canonical: Option<String>,
    /// What was mended on the way.
    pub repairs: Vec<Repair>,
}

/// A call the model wants made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParsedCall {
    /// `tc_0`, `tc_1`, … in each body; they repeat over an answer.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// Always an object.
    pub arguments: Value,
}

/// Something that was not written as it should be and was understood all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What was mended.
    pub what: &'static str,
    /// Where it stood: bytes from the beginning of the text without its reasoning.
    pub at: usize,
}

impl Repair {
    pub(crate) fn new(what: &'static str, at: usize) -> Self {
        Self { what, at }
    }
}
