//! Several topics followed at once, for as long as somebody reads what we write.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures_core::Stream;
use harn_log::{EventStream, LogEvent, LogEventBytes, Result, Topic};
use rustix::event::{PollFd, PollFlags, poll};

use super::super::records::Record;

/// Topics that are followed.
pub(super) struct Followed {
    streams: Vec<(Topic, EventStream)>,
    /// Which stream is asked first; each has its turn.
    turn: usize,
    reader: Arc<Reader>,
}

impl Followed {
    pub(super) fn new() -> Self {
        Self {
            streams: Vec::new(),
            turn: 0,
            reader: Reader::watched(),
        }
    }

    pub(super) fn add(&mut self, topic: Topic, stream: EventStream) {
        self.streams.push((topic, stream));
    }

    /// The next record, or nothing once nobody reads any more.
    pub(super) async fn next(&mut self) -> Result<Option<Record>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Record>>> {
        if self.reader.has_gone(cx) {
            return Poll::Ready(Ok(None));
        }
        for _ in 0..self.streams.len() {
            self.turn = (self.turn + 1) % self.streams.len();
            let (topic, stream) = &mut self.streams[self.turn];
            if let Poll::Ready(Some(next)) = Pin::new(stream).poll_next(cx) {
                let record = next.and_then(|(id, event)| {
                    let (topic, event) = (topic.clone(), bytes_of(event)?);
                    Ok(Some(Record { topic, id, event }))
                });
                return Poll::Ready(record);
            }
        }
        Poll::Pending
    }
}

fn bytes_of(event: LogEvent) -> Result<LogEventBytes> {
    Ok(LogEventBytes {
        payload: serde_json::to_vec(&event.payload)?,
        kind: event.kind,
        headers: event.headers,
        occurred_at_ms: event.occurred_at_ms,
    })
}

/// Whoever reads what we write. A pipe fails only when it is written to, and that may
/// be never: `harn events tail -f | head -1` has to end after one record all the same.
#[derive(Default)]
struct Reader {
    state: Mutex<ReaderState>,
}

#[derive(Default)]
struct ReaderState {
    has_gone: bool,
    waker: Option<Waker>,
}

impl Reader {
    /// A reader that a thread keeps an eye on. The thread ends with the program.
    fn watched() -> Arc<Self> {
        let reader = Arc::new(Self::default());
        let watched = Arc::clone(&reader);
        let watch = move || {
            // Waits for nothing but the end of the other side.
            let stdout = io::stdout();
            let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
            if poll(&mut ends, None).is_ok() {
                watched.leave();
            }
        };
        let name = "harn-reader".to_owned();
        // Without the thread, the next record that cannot be written ends the program.
        let _at_the_next_record = thread::Builder::new().name(name).spawn(watch);
        reader
    }

    fn has_gone(&self, cx: &Context<'_>) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waker = Some(cx.waker().clone());
        state.has_gone
    }

    fn leave(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_gone = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}
