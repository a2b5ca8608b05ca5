//! Bodies that do not come in time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// Whether a body took too long.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness(Arc<AtomicBool>);

impl Lateness {
    pub(crate) fn is_late(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The body with an end: what has not come after `limit` does not come any more.
pub(crate) fn within(body: Body, limit: Duration) -> (Body, Lateness) {
    let lateness = Lateness::default();
    if body.is_end_stream() {
        return (body, lateness);
    }
    let timed = TimedBody {
        body,
        deadline: Box::pin(sleep(limit)),
        lateness: lateness.clone(),
    };
    (Body::new(timed), lateness)
}

struct TimedBody {
    body: Body,
    deadline: Pin<Box<Sleep>>,
    lateness: Lateness,
}

#[derive(Debug, thiserror::Error)]
#[error("the body did not come in time")]
struct Late;

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // First, because a body that trickles always has something more.
        if self.deadline.as_mut().poll(ctx).is_ready() {
            self.lateness.0.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(axum::Error::new(Late))));
        }
        Pin::new(&mut self.body).poll_frame(ctx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
