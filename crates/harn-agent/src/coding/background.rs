//! Work on a thread, for a future that may be dropped.

use std::future::poll_fn;
use std::io::{self, Read};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use harn_log::block_on;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use super::failed;
use crate::tool::ToolError;

/// Set when nobody waits for the work any more. Long work looks at it now and then.
#[derive(Clone, Debug, Default)]
pub(super) struct Cancelled(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    wakes: Notify,
}

impl Cancelled {
    pub(super) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
        self.0.wakes.notify_waiters();
    }

    async fn happens(&self) {
        loop {
            let mut woken = pin!(self.0.wakes.notified());
            // Who is set after this wakes us, who was set before is seen.
            woken.as_mut().enable();
            if self.is_set() {
                return;
            }
            woken.await;
        }
    }
}

/// Does the work on a thread of its own.
///
/// # Cancel safety
/// Dropping the future sets [`Cancelled`]. What the work has done by then stays done.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce(&Cancelled) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let cancelled = Cancelled::default();
    let _waits = Waits(cancelled.clone());
    let (sender, receiver) = oneshot::channel();
    // What the work waits for may need the clock of whoever runs us.
    let executor = Handle::try_current().ok();
    let thread = thread::Builder::new().name("harn-tool".to_owned());
    thread
        .spawn(move || {
            let _entered = executor.as_ref().map(Handle::enter);
            let _nobody_may_wait = sender.send(work(&cancelled));
        })
        .map_err(|error| failed(format!("cannot start a thread: {error}")))?;
    let result = receiver.await;
    result.map_err(|_| failed("the tool stopped before it had an answer"))
}

/// Waits on such a thread for somebody else, as long as somebody waits for the work.
pub(super) fn wait<T>(
    future: impl Future<Output = T>,
    cancelled: &Cancelled,
) -> Result<T, ToolError> {
    block_on(async {
        let (mut future, mut given_up) = (pin!(future), pin!(cancelled.happens()));
        poll_fn(|context| {
            if given_up.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(failed("nobody waits for it")));
            }
            future.as_mut().poll(context).map(Ok)
        })
        .await
    })
}

/// A reader that fails once nobody waits, so that a huge file is not read to its end for nothing.
pub(super) struct WhileWaiting<'a, R>(pub(super) R, pub(super) &'a Cancelled);

impl<R: Read> Read for WhileWaiting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.1.is_set() {
            true => Err(io::Error::other("nobody waits for it")),
            false => self.0.read(buffer),
        }
    }
}

/// As long as this lives, somebody waits.
struct Waits(Cancelled);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.set();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn work_is_done_elsewhere() {
        let here = thread::current().id();
        let there = harn_log::block_on(in_background(|_| thread::current().id()));
        assert_ne!(there, Ok(here));
    }

    #[test]
    fn reading_ends_when_nobody_waits() {
        let cancelled = Cancelled::default();
        let mut reader = WhileWaiting(io::repeat(b'x'), &cancelled);
        assert!(reader.read(&mut [0; 8]).is_ok());
        cancelled.set();
        // An endless file: if reading did not fail, it would not end.
        assert!(io::copy(&mut reader, &mut io::sink()).is_err());
    }

    #[test]
    fn work_is_told_that_nobody_waits() {
        let (noticed, notice) = mpsc::channel();
        {
            let mut work = pin!(in_background(move |cancelled| {
                while !cancelled.is_set() {
                    thread::yield_now();
                }
                noticed.send(()).expect("the test listens");
            }));
            let mut context = Context::from_waker(Waker::noop());
            assert!(work.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(notice.recv(), Ok(()));
    }

    #[test]
    fn who_waits_for_somebody_else_is_let_go_when_nobody_waits() {
        let (noticed, notice) = mpsc::channel();
        {
            let mut work = pin!(in_background(move |cancelled| {
                let waited = wait(std::future::pending::<()>(), cancelled);
                noticed.send(waited).expect("the test listens");
            }));
            let mut context = Context::from_waker(Waker::noop());
            assert!(work.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(notice.recv(), Ok(Err(failed("nobody waits for it"))));
    }
}
