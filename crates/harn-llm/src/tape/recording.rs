//! A transport that writes down what another one carries.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use crate::transport::{Body, HttpAnswer, Later, TimeLimits, Transport};
use crate::wire::HttpRequest;
use crate::{Category, Error};

use super::language::wire_of;
use super::recorder::{OpenExchange, TapeRecorder};

/// Writes down what another transport carries. An exchange is written when its body ends,
/// fails or is dropped; what was dropped is marked as cancelled.
pub struct Recording {
    transport: Arc<dyn Transport>,
    tape: Tape,
}

/// The tape that all exchanges of a transport share. Locked only for one write.
type Tape = Arc<Mutex<TapeRecorder>>;

impl fmt::Debug for Recording {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Recording").finish_non_exhaustive()
    }
}

impl Recording {
    /// Records what `transport` carries.
    pub fn new(transport: Arc<dyn Transport>, recorder: TapeRecorder) -> Self {
        Self {
            transport,
            tape: Arc::new(Mutex::new(recorder)),
        }
    }

    async fn exchange(
        &self,
        request: &HttpRequest,
        limits: &TimeLimits,
    ) -> Result<HttpAnswer, Error> {
        let open = lock(&self.tape).begin(wire_of(request), request);
        let mut line = Line {
            tape: Arc::clone(&self.tape),
            open: Some(open),
            started: Instant::now(),
        };
        let answer = match self.transport.send(request, limits).await {
            Ok(answer) => answer,
            Err(error) => {
                line.failed(&error);
                line.write()?;
                return Err(error);
            }
        };
        if let Some(open) = &mut line.open {
            let headers = answer.headers.iter();
            open.response(
                answer.status,
                headers.map(|(name, value)| (name.as_str(), value.as_str())),
            );
        }
        let body = RecordingBody {
            body: answer.body,
            line,
        };
        Ok(HttpAnswer {
            body: Box::new(body),
            ..answer
        })
    }
}

impl Transport for Recording {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        Box::pin(self.exchange(request, limits))
    }
}

struct RecordingBody {
    body: Box<dyn Body>,
    line: Line,
}

impl RecordingBody {
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let next = self.body.chunk().await;
        match &next {
            Ok(Some(chunk)) => self.line.chunk(chunk),
            Ok(None) => self.line.write()?,
            Err(error) => {
                self.line.failed(error);
                self.line.write()?;
            }
        }
        next
    }
}

impl Body for RecordingBody {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        Box::pin(self.next())
    }
}

/// A line of the tape that is not written yet.
struct Line {
    tape: Tape,
    /// `None` once it is written.
    open: Option<OpenExchange>,
    started: Instant,
}

impl Line {
    fn chunk(&mut self, bytes: &[u8]) {
        let at_ms = self.started.elapsed().as_millis();
        if let Some(open) = &mut self.open {
            open.chunk(u64::try_from(at_ms).unwrap_or(u64::MAX), bytes);
        }
    }

    fn failed(&mut self, error: &Error) {
        if let Some(open) = &mut self.open {
            open.failed(error);
        }
    }

    /// # Errors
    /// A tape with a hole would be played wrongly, so whoever records has to know.
    fn write(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let written = lock(&self.tape).exchange(open);
        written.map_err(|error| {
            let message = format!("could not write the tape: {error}");
            Error::new(Category::Generic, message)
        })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let message = "the caller no longer wanted the answer";
        self.failed(&Error::new(Category::Cancelled, message));
        // There is nobody left to tell.
        let _ = self.write();
    }
}

fn lock(tape: &Tape) -> std::sync::MutexGuard<'_, TapeRecorder> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
