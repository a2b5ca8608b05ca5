//! The languages that providers speak.
//!
//! ```text
//! Request + Target ─► encode ─► HttpRequest           bytes ─► Frames ─► Decoder ─► StreamEvent
//! ```
//!
//! Each wire is one folder with a pure `encode` and a [`Decode`] state machine. They share
//! [`conversation`], which reads the messages of a transcript in every shape a program may
//! have written them in, so that a conversation begun with one provider goes on with another.
//!
//! What decoders hold to:
//! - what they do not know is kept as [`StreamEvent::Raw`] and never ends a stream;
//! - arguments pass byte for byte;
//! - an answer without its last event is an error, whatever came before;
//! - each call ends exactly once, and only when its arguments are complete.

mod anthropic;
#[cfg(test)]
mod any_shape;
mod chat;
pub mod conversation;
pub mod frames;
mod gemini;
pub mod lines;
mod ollama;
mod responses;
mod scan;
pub mod sse;
mod words;

use std::fmt;

use serde_json::Value;

use crate::{Category, Error, Request, Secret, StreamEvent};

/// A language that providers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and the many servers that copy it.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

/// How an answer is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON value per line.
    Lines,
}

impl Wire {
    /// Its name in files: tapes, transcripts, the catalog.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::Chat => "chat",
            Wire::Responses => "responses",
            Wire::Gemini => "gemini",
            Wire::Ollama => "ollama",
        }
    }

    /// How its streams are cut.
    pub fn framing(self) -> Framing {
        match self {
            Wire::Ollama => Framing::Lines,
            Wire::Anthropic | Wire::Chat | Wire::Responses | Wire::Gemini => Framing::Sse,
        }
    }
}

/// Whom a request is for, with everything an encoder has to know about them. The catalog
/// makes these.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The provider's name in the catalog, for what only one of them understands.
    pub provider: String,
    /// The whole URL of the endpoint; `{model}` stands for the model's id.
    pub url: String,
    /// Headers that every request carries, the key among them.
    pub headers: Vec<(String, Secret)>,
    /// What the model can do and wants.
    pub traits: ModelTraits,
}

/// What an encoder has to know about a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelTraits {
    /// The output cap is called `max_completion_tokens`.
    pub requires_completion_tokens: bool,
    /// Thinks adaptively and refuses sampling parameters (Claude 4.7 and later).
    pub adaptive_only: bool,
    /// Takes the beginning of its answer from the caller.
    pub accepts_prefill: bool,
    /// May think between calls.
    pub interleaved_thinking: bool,
    /// Wants its earlier thoughts back.
    pub preserve_thinking: bool,
}

/// A request as the transport sends it.
#[derive(Clone, PartialEq)]
pub struct HttpRequest {
    /// Where to.
    pub url: String,
    /// Names and values. Values are secrets: they are never written down.
    pub headers: Vec<(String, Secret)>,
    /// The body, always JSON. Without one (null) the request is a GET.
    pub body: Value,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("HttpRequest")
            .field("url", &self.url)
            .field("headers", &names)
            .field("body", &self.body)
            .finish()
    }
}

/// One frame of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The event's name, where the framing has one.
    pub event: &'a str,
    /// The data.
    pub data: &'a str,
}

/// Turns the frames of one answer into events.
pub trait Decode: Send {
    /// Takes the next frame. Once it has failed, the stream is over.
    ///
    /// # Errors
    /// The provider reported a failure, or the frame is not what the wire allows.
    fn frame(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Error>;

    /// The stream is at its end.
    ///
    /// # Errors
    /// [`Category::StreamTruncated`] if the answer was not.
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Error>;

    /// Takes an answer that came in one piece (the request did not ask for a stream).
    ///
    /// # Errors
    /// As [`Decode::frame`].
    fn whole(&mut self, body: &Value, events: &mut Vec<StreamEvent>) -> Result<(), Error>;
}

/// The error of a stream that ended too early.
pub(crate) fn truncated(what: &str) -> Error {
    Error::new(
        Category::StreamTruncated,
        format!("the stream ended before {what}"),
    )
}

/// The HTTP request that asks `request` of `target`.
pub fn encode(wire: Wire, request: &Request, target: &Target) -> HttpRequest {
    match wire {
        Wire::Anthropic => anthropic::encode(request, target),
        Wire::Chat => chat::encode(request, target),
        Wire::Responses => responses::encode(request, target),
        Wire::Gemini => gemini::encode(request, target),
        Wire::Ollama => ollama::encode(request, target),
    }
}

/// What reads the answer.
pub fn decoder(wire: Wire) -> Box<dyn Decode> {
    match wire {
        Wire::Anthropic => Box::new(anthropic::Decoder::default()),
        Wire::Chat => Box::new(chat::Decoder::default()),
        Wire::Responses => Box::new(responses::Decoder::default()),
        Wire::Gemini => Box::new(gemini::Decoder::default()),
        Wire::Ollama => Box::new(ollama::Decoder::default()),
    }
}
