//! The values that models write as arguments: TypeScript object literals, heredocs, and what
//! weak models make of both.
//!
//! The reader is a machine that can stop anywhere and go on when more text has come. It looks
//! at every character once, keeps its own stack, and decides nothing that a later character
//! could change, so a text read in pieces gives what the whole text gives.

mod heredoc;
mod number;
mod reader;
#[cfg(test)]
mod tests;
mod text;

use serde_json::Value;

pub(super) use heredoc::{Ending as HeredocEnding, Heredoc, Look, opening as heredoc_opening};
pub(super) use reader::{Reader, Root, Step};

use super::Repair;

/// How deep values may nest. Each level costs the caller stack when it drops or prints the
/// value, so there must be an end.
pub const DEPTH_MAX: usize = 128;

/// Why a text is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong, without a full stop.
    pub message: String,
    /// Where: bytes from the beginning of the text.
    pub at: usize,
    /// Whether the text ended too early, so that more of it might have helped.
    pub is_unfinished: bool,
}

/// Reads a text that is one value and nothing else.
///
/// # Errors
/// The first thing that cannot be understood.
pub fn read(text: &str) -> Result<(Value, Vec<Repair>), Fault> {
    let mut reader = Reader::new(Root::Value, 0);
    match reader.advance(text, true) {
        Step::Done(value) => match reader.rest_begins(text) {
            None => Ok((value, reader.take_repairs())),
            Some(at) => Err(Fault {
                message: "unexpected text after the value".to_owned(),
                at,
                is_unfinished: false,
            }),
        },
        Step::Failed(fault) | Step::Unclosed { fault, .. } => Err(fault),
        Step::More => unreachable!("a reader that was told of the end does not wait"),
    }
}
