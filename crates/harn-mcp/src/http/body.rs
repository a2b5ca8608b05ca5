//! Bodies and events of servers, up to a limit.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use sse_stream::SseStream;

use super::fault::HttpFault;

/// Reads a whole body, or stops where it becomes too large.
pub(super) async fn whole(
    mut response: reqwest::Response,
    bytes_max: usize,
) -> Result<Vec<u8>, HttpFault> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| HttpFault::of(&error))?
    {
        if body.len() + chunk.len() > bytes_max {
            return Err(HttpFault::TooLarge(bytes_max));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The events of a stream. One that becomes too large ends it.
pub(super) fn events(response: reqwest::Response, bytes_max: usize) -> BoxedSseResponse {
    let bounded = Bounded {
        bytes: Box::pin(response.bytes_stream()),
        size: EventSize {
            bytes_max,
            event: 0,
            line: 0,
        },
        has_failed: false,
    };
    Box::pin(SseStream::from_bytes_stream(bounded))
}

/// How large the event is that is being read.
struct EventSize {
    bytes_max: usize,
    /// Bytes of the lines before this one.
    event: usize,
    /// Bytes of this line.
    line: usize,
}

impl EventSize {
    /// Whether the event is still small enough after `chunk`.
    fn admits(&mut self, chunk: &[u8]) -> bool {
        for byte in chunk {
            match byte {
                // An empty line ends an event; that of CRLF is the second half of one.
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => {
                    self.event += self.line;
                    self.line = 0;
                }
                b'\r' => {}
                _ => self.line += 1,
            }
            if self.event + self.line > self.bytes_max {
                return false;
            }
        }
        true
    }
}

struct Bounded {
    bytes: Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>,
    size: EventSize,
    has_failed: bool,
}

impl Stream for Bounded {
    type Item = Result<Bytes, HttpFault>;

    fn poll_next(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_failed {
            return Poll::Ready(None);
        }
        let Poll::Ready(next) = self.bytes.as_mut().poll_next(ctx) else {
            return Poll::Pending;
        };
        let next = match next {
            None => None,
            Some(Err(error)) => Some(Err(HttpFault::of(&error))),
            Some(Ok(chunk)) if self.size.admits(&chunk) => Some(Ok(chunk)),
            Some(Ok(_)) => Some(Err(HttpFault::TooLarge(self.size.bytes_max))),
        };
        self.has_failed = matches!(next, Some(Err(_)));
        Poll::Ready(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chunks: &[&str], bytes_max: usize, is_admitted: bool) {
        let mut size = EventSize {
            bytes_max,
            event: 0,
            line: 0,
        };
        let admitted = chunks.iter().all(|chunk| size.admits(chunk.as_bytes()));
        assert_eq!(admitted, is_admitted, "{chunks:?}");
    }

    #[test]
    fn each_event_has_the_whole_limit() {
        check(&["data: ab\n\n", "data: ab\n\n"], 8, true);
        check(&["data: ab\r\n\r\n", "data: ab\r\n\r\n"], 8, true);
        check(&["data: abc\n\n"], 8, false);
        check(&["data: a\ndata: b\n\n"], 13, false);
        check(&["data: ", "aaaa", "aaaa"], 12, false);
    }
}
