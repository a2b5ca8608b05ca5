//! Driving futures by hand: on this thread, several in turn, or one on two threads.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

/// How long a test waits for something that should happen at once. Only a
/// failing test ever waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A driver that polls more often than this is waiting for something that will
/// never come.
const POLLS_MAX: usize = 100_000;

/// Takes the next message, or fails the test.
#[track_caller]
pub(crate) fn receive<T>(receiver: &Receiver<T>) -> T {
    receiver
        .recv_timeout(PATIENCE)
        .expect("the other side should have sent something by now")
}

/// Runs `work` on a thread of its own and fails the test if it does not come back.
#[track_caller]
pub(crate) fn within_patience<T: Send + 'static>(
    promise: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, outcome) = mpsc::channel();
    let worker = thread::spawn(move || {
        // The receiver is gone only after the test has failed.
        let _ = done.send(work());
    });
    match outcome.recv_timeout(PATIENCE) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => panic!("{promise}: it hangs"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Ok(()) => unreachable!("the worker sends before it ends"),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "the future hangs");
        thread::park_timeout(left);
    }
}

/// Hands control back to the driver once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls the futures in turn on this thread until all are done: a, b, a, b, …
#[track_caller]
pub(crate) fn interleave<'a>(
    futures: impl IntoIterator<Item = Pin<Box<dyn Future<Output = ()> + 'a>>>,
) {
    let mut futures: Vec<_> = futures.into_iter().collect();
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..POLLS_MAX {
        futures.retain_mut(|future| future.as_mut().poll(&mut cx).is_pending());
        if futures.is_empty() {
            return;
        }
    }
    panic!("a future hangs");
}

type Travelling<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Polls a future on two threads in turn, and returns with its output the
/// threads it was polled on.
#[track_caller]
pub(crate) fn poll_alternately<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> (T, Vec<ThreadId>) {
    let threads = [spawn_poller::<T>(), spawn_poller::<T>()];
    let mut polled_on = Vec::new();
    let mut future: Travelling<T> = Box::pin(future);
    for turn in 0..POLLS_MAX {
        let (to, from) = &threads[turn % 2];
        to.send(future).expect("the poller is alive");
        let (thread, outcome) = receive(from);
        polled_on.push(thread);
        match outcome {
            Ok(output) => return (output, polled_on),
            Err(pending) => future = pending,
        }
    }
    panic!("the future hangs");
}

type Polled<T> = (ThreadId, Result<T, Travelling<T>>);

fn spawn_poller<T: Send + 'static>() -> (mpsc::Sender<Travelling<T>>, Receiver<Polled<T>>) {
    let (to, inbox) = mpsc::channel::<Travelling<T>>();
    let (outbox, from) = mpsc::channel();
    thread::spawn(move || {
        let mut cx = Context::from_waker(Waker::noop());
        for mut future in inbox {
            let outcome = match future.as_mut().poll(&mut cx) {
                Poll::Ready(output) => Ok(output),
                Poll::Pending => Err(future),
            };
            if outbox.send((thread::current().id(), outcome)).is_err() {
                return;
            }
        }
    });
    (to, from)
}
