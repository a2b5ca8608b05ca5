//! A call from outside as a future, for any executor.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::fault::Failure;
use crate::handle::{PendingCall, Reply};
use crate::value::Value;

/// What a call will come to; see [`ClosureHandle::call_async`](crate::ClosureHandle::call_async).
/// It gives `None` if the program ends before the call does.
#[derive(Debug)]
#[must_use = "a call is given up when this is dropped"]
pub struct AsyncCall<T> {
    slot: Arc<Slot<T>>,
    #[expect(
        dead_code,
        reason = "it is held to be dropped together with the future"
    )]
    pending: PendingCall,
}

impl<T: Send + 'static> AsyncCall<T> {
    /// Sends a call whose reply completes the future.
    pub(crate) fn begin(
        convert: impl FnOnce(Result<&Value, &Failure>) -> T + Send + 'static,
        send: impl FnOnce(Reply) -> PendingCall,
    ) -> Self {
        let slot = Arc::new(Slot::new());
        let end = SlotEnd(Arc::clone(&slot));
        let reply = move |result: Result<&Value, &Failure>| {
            let value = convert(result);
            end.0.fill(State::Ready(value));
        };
        let pending = send(Box::new(reply));
        Self { slot, pending }
    }
}

impl<T> Future for AsyncCall<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.slot.lock();
        match &mut *state {
            State::Waits(Some(waker)) => waker.clone_from(context.waker()),
            State::Waits(waker) => *waker = Some(context.waker().clone()),
            State::Ready(_) | State::Ended => {
                return Poll::Ready(match std::mem::replace(&mut *state, State::Ended) {
                    State::Ready(value) => Some(value),
                    State::Waits(_) | State::Ended => None,
                });
            }
        }
        Poll::Pending
    }
}

impl<T> Drop for AsyncCall<T> {
    fn drop(&mut self) {
        // Nobody is to be woken when the program drops the reply.
        let left = std::mem::replace(&mut *self.slot.lock(), State::Ended);
        drop(left);
    }
}

/// What passes the value from the thread of the program to whoever waits for it.
#[derive(Debug)]
struct Slot<T>(Mutex<State<T>>);

#[derive(Debug)]
enum State<T> {
    /// Nobody knows yet. Whoever asked last is woken.
    Waits(Option<Waker>),
    Ready(T),
    /// There is no value, or it was taken.
    Ended,
}

impl<T> Slot<T> {
    fn new() -> Self {
        Self(Mutex::new(State::Waits(None)))
    }

    /// Nothing can panic while it is locked, so it is whole whatever happened elsewhere.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the wait, unless that has happened.
    fn fill(&self, end: State<T>) {
        let mut state = self.lock();
        if !matches!(*state, State::Waits(_)) {
            return;
        }
        let before = std::mem::replace(&mut *state, end);
        drop(state);
        if let State::Waits(Some(waker)) = before {
            waker.wake();
        }
    }
}

/// The end of a slot that the program holds. If it is dropped without a value there is none.
struct SlotEnd<T>(Arc<Slot<T>>);

impl<T> Drop for SlotEnd<T> {
    fn drop(&mut self) {
        self.0.fill(State::Ended);
    }
}
