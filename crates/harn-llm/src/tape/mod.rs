//! A tape keeps what was said to a provider and what came back, byte for byte, and says it
//! again.
//!
//! ```text
//! HttpRequest ─► TapeRecorder::begin ─► response, chunk, chunk, … ─► exchange ─► one line
//!                                                                                   │
//! HttpRequest ─► TapePlayer::answer ─► status, headers, chunks ◄── Tape::read ◄─────┘
//! ```
//!
//! [`Recording`] and [`Playing`] do this as transports, so nobody above notices.
//!
//! The chunks are those of the network, boundaries included, so the same decoders run over a
//! tape as over the wire. Values of headers are never written; everything else goes through
//! a [`Redaction`] first.
//!
//! A file has one exchange per line:
//!
//! ```text
//! {"tape": 1, "wire": "anthropic",
//!  "request": {"url": "https://…", "headers": ["x-api-key"], "body": {…}},
//!  "response": {"status": 200, "headers": {"content-type": "text/event-stream"},
//!               "chunks": [{"at_ms": 310, "text": "event: message_start\n"}, …]},
//!  "failure": {"category": "transient_network", "message": "…"}}
//! ```
//!
//! A chunk that is no text by itself, because it ends within a character, has `hex` instead
//! of `text`. There is a `failure` if the exchange did not end well, and no `response` if it
//! failed before one. Each line is written at once, so only the last one can be torn; readers
//! report that and go on without it.
//!
//! What a tape cannot do: a secret that a model spells out over several events of its stream
//! is not in one piece, and stays.

mod difference;
mod exchange;
mod language;
mod player;
mod playing;
mod reader;
mod recorder;
mod recording;
mod redaction;
mod subject;

pub use difference::Difference;
pub use exchange::{Chunk, Failure, RecordedExchange, RecordedRequest, RecordedResponse};
pub use language::wire_of;
pub use player::{Matching, TapePlayer};
pub use playing::Playing;
pub use reader::{Tape, Torn};
pub use recorder::{EXCHANGE_BYTES_MAX, OpenExchange, TapeRecorder};
pub use recording::Recording;
pub use redaction::Redaction;

use std::io;

use crate::Category;

/// Why a tape cannot be written, read or played.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file.
    #[error("{file}: {source}")]
    File {
        /// Which.
        file: String,
        /// What happened.
        source: io::Error,
    },
    /// A line that is no exchange.
    #[error("{file} line {line}: {reason}")]
    Line {
        /// Which file.
        file: String,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Something else was asked than is on the tape.
    #[error("request {number} is not the one on the tape: {difference}")]
    Different {
        /// Which request, from 1.
        number: usize,
        /// The first difference.
        difference: Box<Difference>,
    },
    /// More was asked than is on the tape.
    #[error("request {number} is one more than the tape has")]
    Exhausted {
        /// Which request, from 1.
        number: usize,
    },
    /// Nothing on the tape fits what was asked.
    #[error("nothing on the tape fits a request to {model} over {wire} after {said:?}")]
    NothingFits {
        /// The wire.
        wire: String,
        /// The model.
        model: String,
        /// What the user said last, cut short.
        said: String,
    },
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        crate::Error::new(Category::Generic, error.to_string())
    }
}
