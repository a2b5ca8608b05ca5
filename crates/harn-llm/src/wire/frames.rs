//! Cuts an answer into frames in the way its wire does.

use serde_json::Value;

use super::lines::LineDecoder;
use super::sse::SseDecoder;
use super::{Frame, Framing};
use crate::{Category, Error};

/// Takes the bytes of one answer and gives out its frames.
#[derive(Debug)]
pub enum Frames {
    /// Server-sent events.
    Sse(SseDecoder),
    /// One JSON value per line.
    Lines(LineDecoder),
}

impl Frames {
    /// One for an answer that is cut like that.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Sse => Frames::Sse(SseDecoder::default()),
            Framing::Lines => Frames::Lines(LineDecoder::default()),
        }
    }

    /// Takes the next bytes and calls `each` for every frame they complete.
    ///
    /// # Errors
    /// A frame is larger than allowed, or `each` failed. The stream is over then.
    pub fn push(
        &mut self,
        bytes: &[u8],
        each: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Frames::Sse(decoder) => decoder.push(bytes, each),
            Frames::Lines(decoder) => decoder.push(bytes, each),
        }
    }

    /// The stream is at its end; a last frame may come of that.
    ///
    /// # Errors
    /// `each` failed.
    pub fn finish(
        &mut self,
        each: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Frames::Sse(_) => Ok(()),
            Frames::Lines(decoder) => decoder.finish(each),
        }
    }
}

/// The JSON of a frame.
///
/// # Errors
/// It is none. That is the provider's failure, so another try may help.
pub(super) fn json(data: &str) -> Result<Value, Error> {
    serde_json::from_str(data).map_err(|error| {
        Error::new(
            Category::ServerError,
            format!("the provider sent something that is not JSON: {error}"),
        )
    })
}
