//! One request, and what came back.

use std::time::Duration;

use bytes::Bytes;
use harn_machine::{HttpHead, HttpRequest, NetAnswer, NetFailure, NetFailureKind};
use reqwest::{Client, Method, Response};
use tokio::time::{Instant, timeout_at};

use super::failure::{broken_off, failure, too_late, unanswered};

/// How large the body of an answer may be that is kept in memory. What is larger can be
/// downloaded, or read in pieces.
const BODY_BYTES_MAX: usize = 128 << 20;

/// What is reserved for a body before it arrives, whatever the server says about its length.
const BODY_BYTES_RESERVED_MAX: usize = 1 << 20;

/// How long things may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// When everything must be there.
    until: Option<(Instant, Duration)>,
    /// How long nothing may arrive.
    silence: Option<Duration>,
}

impl Limits {
    pub(super) fn new(timeout_ms: Option<u64>, silence_ms: Option<u64>) -> Self {
        let until = timeout_ms.and_then(|time| {
            let time = Duration::from_millis(time);
            Some((Instant::now().checked_add(time)?, time))
        });
        Self {
            until,
            silence: silence_ms.map(Duration::from_millis),
        }
    }

    /// Waits for one thing.
    pub(super) async fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, NetFailure> {
        let silence = self
            .silence
            .and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        let first = [self.until, silence].into_iter().flatten().min();
        match first {
            None => Ok(work.await),
            Some((until, time)) => timeout_at(until, work).await.map_err(|_| too_late(time)),
        }
    }
}

/// A request and its whole answer.
pub(super) async fn exchange(
    client: Client,
    request: HttpRequest,
) -> Result<NetAnswer, NetFailure> {
    let limits = Limits::new(request.timeout_ms, request.read_timeout_ms);
    let mut response = send(&client, request, &limits).await?;
    let head = head(&response);
    let length = response.content_length().unwrap_or(0);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut body = Vec::with_capacity(length.min(BODY_BYTES_RESERVED_MAX));
    while let Some(piece) = next(&mut response, &limits).await? {
        if body.len() + piece.len() > BODY_BYTES_MAX {
            let reason = format!("it is larger than {BODY_BYTES_MAX} bytes");
            return Err(failure(NetFailureKind::Body, reason));
        }
        body.extend_from_slice(&piece);
    }
    Ok(NetAnswer::Response(head, body))
}

/// Sends a request and waits for what stands before the body of its answer.
pub(super) async fn send(
    client: &Client,
    request: HttpRequest,
    limits: &Limits,
) -> Result<Response, NetFailure> {
    let method = Method::from_bytes(request.method.as_bytes());
    let method = method.map_err(|error| failure(NetFailureKind::Impossible, error.to_string()))?;
    let mut sending = client.request(method, &request.url);
    for (name, value) in &request.headers {
        sending = sending.header(name, value);
    }
    if let Some(body) = request.body {
        sending = sending.body(body);
    }
    let response = limits.wait(sending.send()).await?;
    response.map_err(|error| unanswered(&error))
}

/// The next piece of a body; `None` at its end.
pub(super) async fn next(
    response: &mut Response,
    limits: &Limits,
) -> Result<Option<Bytes>, NetFailure> {
    let piece = limits.wait(response.chunk()).await?;
    piece.map_err(|error| broken_off(&error))
}

/// What stands before a body.
pub(super) fn head(response: &Response) -> HttpHead {
    let headers = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    HttpHead {
        status: response.status().as_u16(),
        headers: headers.collect(),
    }
}
