//! How requests reach a provider and answers come back.
//!
//! ```text
//!                 ┌─ Http: the network
//! Transport ──────┼─ a tape that gives back what was recorded
//!                 └─ a recorder around either
//! ```
//!
//! A transport knows nothing of models. It hands over bytes as they come, so that everything
//! above it is the same for the network, a tape and a test.

mod http;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;

pub(crate) use http::NOT_REACHED;
pub use http::{Http, HttpOptions};

use crate::Error;
use crate::wire::HttpRequest;

/// A future that can be sent to another thread.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Carries requests and answers.
pub trait Transport: Send + Sync {
    /// Sends a request and waits for the head of its answer.
    ///
    /// # Errors
    /// The request did not get there, or no answer came in time.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the connection.
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>>;
}

/// How long an exchange may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// From the first byte sent to the last byte received.
    pub whole: Duration,
    /// Between two pieces of the answer. Pings count as pieces.
    pub idle: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(120),
            idle: Duration::from_secs(120),
        }
    }
}

/// The head of an answer, and what gives its body.
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// Headers in lower case. Those that are not text are left out.
    pub headers: Vec<(String, String)>,
    /// The body. Dropping it gives up the connection at once.
    pub body: Box<dyn Body>,
}

impl HttpAnswer {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The body of an answer, piece by piece.
pub trait Body: Send {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// The connection broke or was silent for too long.
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>>;
}
