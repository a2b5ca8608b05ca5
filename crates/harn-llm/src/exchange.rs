//! One question to one provider, and its answer.
//!
//! Whoever wants retries, budgets or a second provider puts them around this; here a request
//! goes out once, and what comes back is a whole answer or an error.

use serde_json::Value;

use crate::classify::http_failure;
use crate::grammar::think::{Piece, ThinkSplitter};
use crate::reply::Collector;
use crate::transport::{HttpAnswer, TimeLimits, Transport};
use crate::wire::lines::LineDecoder;
use crate::wire::sse::SseDecoder;
use crate::wire::{self, Decode, Framing, HttpRequest, Target, Wire};
use crate::{Category, Error, Reply, Request, StreamEvent};

/// The most of an error's body that is read.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// The most of an answer that comes in one piece.
const WHOLE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What there is room for in the beginning: about as many events as come in one piece.
const EVENTS: usize = 16;

/// One question to one provider.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// Which language the provider speaks.
    pub wire: Wire,
    /// Whom to ask.
    pub target: &'a Target,
    /// What.
    pub request: &'a Request,
    /// How long it may take.
    pub limits: TimeLimits,
}

/// Hears the pieces of an answer as they come.
pub type Listener<'a> = dyn FnMut(&StreamEvent) + Send + 'a;

/// Asks once.
///
/// # Errors
/// No answer, or not a whole one. Calls of an answer that was cut off are never returned.
///
/// # Cancel safety
/// Dropping the future drops the connection; the provider stops working on the answer.
pub async fn ask(
    transport: &dyn Transport,
    exchange: Exchange<'_>,
    listener: &mut Listener<'_>,
) -> Result<Reply, Error> {
    let http = wire::encode(exchange.wire, exchange.request, exchange.target);
    let mut answer = transport.send(&http, &exchange.limits).await?;
    if answer.status >= 400 {
        return Err(refused(&exchange.target.provider, answer).await);
    }
    let mut reading = Reading {
        decoder: wire::decoder(exchange.wire),
        events: Vec::with_capacity(EVENTS),
        splitter: hides_thoughts(exchange.wire).then(ThinkSplitter::default),
        collector: Collector::default(),
        listener,
    };
    if is_stream(&answer, exchange.wire) {
        match exchange.wire.framing() {
            Framing::Sse => reading.sse(&mut answer).await?,
            Framing::Lines => reading.lines(&mut answer).await?,
        }
        reading.finish()?;
    } else {
        let body = whole_body(&mut answer, WHOLE_BYTES_MAX).await?;
        reading.whole(&body)?;
    }
    Ok(reading.collector.finish())
}

/// Asks something that is answered with one JSON value.
///
/// # Errors
/// As [`ask`], or the answer is no JSON.
pub(crate) async fn ask_json(
    transport: &dyn Transport,
    provider: &str,
    request: &HttpRequest,
    limits: TimeLimits,
) -> Result<Value, Error> {
    let mut answer = transport.send(request, &limits).await?;
    if answer.status >= 400 {
        return Err(refused(provider, answer).await);
    }
    let body = whole_body(&mut answer, WHOLE_BYTES_MAX).await?;
    serde_json::from_slice(&body).map_err(|error| no_json(&error))
}

/// Whether somebody answers there without complaint; the status of the answer.
///
/// # Errors
/// Nobody does, or there was a complaint.
pub(crate) async fn is_up(
    transport: &dyn Transport,
    provider: &str,
    request: &HttpRequest,
    limits: TimeLimits,
) -> Result<u16, Error> {
    let answer = transport.send(request, &limits).await?;
    match answer.status {
        status if status < 400 => Ok(status),
        _ => Err(refused(provider, answer).await),
    }
}

fn no_json(error: &serde_json::Error) -> Error {
    let message = format!("the provider's answer is not JSON: {error}");
    Error::new(Category::ServerError, message)
}

/// Whether the answer comes in frames. Some servers answer in one piece although a stream was
/// asked for, and say so in the content type.
fn is_stream(answer: &HttpAnswer, wire: Wire) -> bool {
    let content_type = answer.header("content-type").unwrap_or_default();
    match wire.framing() {
        Framing::Sse => content_type.starts_with("text/event-stream"),
        Framing::Lines => true,
    }
}

/// Whether servers that speak this wire may send thoughts as part of the text.
fn hides_thoughts(wire: Wire) -> bool {
    matches!(wire, Wire::Chat | Wire::Ollama)
}

struct Reading<'a, 'b> {
    decoder: Box<dyn Decode>,
    /// What the decoder gave and nobody has heard yet.
    events: Vec<StreamEvent>,
    /// Takes thoughts out of the text.
    splitter: Option<ThinkSplitter>,
    collector: Collector,
    listener: &'a mut Listener<'b>,
}

impl Reading<'_, '_> {
    async fn sse(&mut self, answer: &mut HttpAnswer) -> Result<(), Error> {
        let mut frames = SseDecoder::default();
        while let Some(chunk) = answer.body.chunk().await? {
            let fed = frames.push(&chunk, |frame| self.decoder.frame(frame, &mut self.events));
            // Also what came before the failure: where chunks end must not matter.
            self.pass_on();
            fed?;
        }
        Ok(())
    }

    async fn lines(&mut self, answer: &mut HttpAnswer) -> Result<(), Error> {
        let mut frames = LineDecoder::default();
        while let Some(chunk) = answer.body.chunk().await? {
            let fed = frames.push(&chunk, |frame| self.decoder.frame(frame, &mut self.events));
            // Also what came before the failure: where chunks end must not matter.
            self.pass_on();
            fed?;
        }
        let fed = frames.finish(|frame| self.decoder.frame(frame, &mut self.events));
        self.pass_on();
        fed
    }

    fn whole(&mut self, body: &[u8]) -> Result<(), Error> {
        let body: Value = serde_json::from_slice(body).map_err(|error| no_json(&error))?;
        let decoded = self.decoder.whole(&body, &mut self.events);
        self.pass_on();
        decoded
    }

    fn finish(&mut self) -> Result<(), Error> {
        let finished = self.decoder.finish(&mut self.events);
        self.pass_on();
        finished
    }

    fn pass_on(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match (event, &mut self.splitter) {
                (StreamEvent::TextDelta { text }, Some(splitter)) if !splitter.lets_pass(&text) => {
                    let pieces = splitter.push(&text);
                    self.tell_pieces(pieces);
                }
                (event @ StreamEvent::End { .. }, _) => {
                    let pieces = self.splitter.take().map(ThinkSplitter::finish);
                    self.tell_pieces(pieces.unwrap_or_default());
                    self.tell(event);
                }
                (event, _) => self.tell(event),
            }
        }
        // Its room is for the events of the next piece.
        self.events = events;
    }

    fn tell_pieces(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            self.tell(match piece {
                Piece::Text(text) => StreamEvent::TextDelta { text },
                Piece::Thought(text) => StreamEvent::ThoughtDelta { text },
            });
        }
    }

    fn tell(&mut self, event: StreamEvent) {
        (self.listener)(&event);
        self.collector.push(event);
    }
}

/// The error of an answer that says no.
async fn refused(provider: &str, mut answer: HttpAnswer) -> Error {
    let retry_after = retry_after_header(&answer);
    // What cannot be read of it changes nothing: the status says enough.
    let body = read_up_to(&mut answer, ERROR_BYTES_MAX).await;
    let body = String::from_utf8_lossy(&body);
    http_failure(provider, answer.status, &body, retry_after.as_deref())
}

/// What the provider says about when to come back, in seconds.
fn retry_after_header(answer: &HttpAnswer) -> Option<String> {
    if let Some(text) = answer.header("retry-after-ms") {
        let milliseconds: f64 = text.trim().parse().ok()?;
        return Some((milliseconds / 1000.0).to_string());
    }
    answer.header("retry-after").map(str::to_owned)
}

async fn read_up_to(answer: &mut HttpAnswer, bytes_max: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < bytes_max {
        let Ok(Some(chunk)) = answer.body.chunk().await else {
            break;
        };
        body.extend_from_slice(&chunk);
    }
    body.truncate(bytes_max);
    body
}

async fn whole_body(answer: &mut HttpAnswer, bytes_max: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.body.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > bytes_max {
            let message = format!("the provider's answer is larger than {bytes_max} bytes");
            return Err(Error::new(Category::ServerError, message));
        }
    }
    Ok(body)
}
