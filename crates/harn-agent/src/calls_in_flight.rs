//! The calls of tools that run, so that one of them can be stopped.
//!
//! Whoever runs a call wraps it:
//!
//! ```text
//! let call = runtime.calls_in_flight.begin(session_id, call_id);
//! match call.unless_cancelled(tool.call(asked)).await {
//!     Ok(result) => result,
//!     Err(CallCancelled { reason }) => …,
//! }
//! ```

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use crate::shown::{Showing, Shown};

/// The calls that run.
#[derive(Clone, Default)]
pub struct CallsInFlight(Arc<Mutex<BTreeMap<Key, Flag>>>);

/// The id of a session, and the id of a call.
type Key = (String, String);

/// Whether a call is to stop.
#[derive(Default)]
struct Flag {
    /// Tells the call from an earlier one of the same id.
    number: u64,
    reason: Option<String>,
    waker: Option<Waker>,
    showing: Arc<Showing>,
}

/// A call that runs. When it is dropped, the call cannot be stopped any more.
pub struct CallInFlight {
    calls: CallsInFlight,
    key: Key,
    number: u64,
    showing: Arc<Showing>,
}

/// A call was stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call was cancelled: {reason}")]
pub struct CallCancelled {
    /// Why.
    pub reason: String,
}

impl CallsInFlight {
    /// A call begins to run.
    pub fn begin(&self, session_id: &str, call_id: &str) -> CallInFlight {
        let key = (session_id.to_owned(), call_id.to_owned());
        let showing = Arc::<Showing>::default();
        let number = self.with(|calls| {
            let number = calls.get(&key).map_or(0, |flag| flag.number + 1);
            let flag = Flag {
                number,
                showing: Arc::clone(&showing),
                ..Flag::default()
            };
            calls.insert(key.clone(), flag);
            number
        });
        CallInFlight {
            calls: self.clone(),
            key,
            number,
            showing,
        }
    }

    /// Where a call that runs shows what it has to show. What a call shows that does not run is
    /// seen by nobody.
    pub fn showing(&self, session_id: &str, call_id: &str) -> Arc<Showing> {
        let key = (session_id.to_owned(), call_id.to_owned());
        let showing = self.with(|calls| Some(Arc::clone(&calls.get(&key)?.showing)));
        showing.unwrap_or_default()
    }

    /// Stops a call; says whether there is one that was not stopped before.
    pub fn cancel(&self, session_id: &str, call_id: &str, reason: &str) -> bool {
        let key = (session_id.to_owned(), call_id.to_owned());
        let waker = self.with(|calls| {
            let flag = calls.get_mut(&key)?;
            if flag.reason.is_some() {
                return None;
            }
            flag.reason = Some(reason.to_owned());
            Some(flag.waker.take())
        });
        let is_stopped = waker.is_some();
        if let Some(waker) = waker.flatten() {
            waker.wake();
        }
        is_stopped
    }

    fn with<T>(&self, look: impl FnOnce(&mut BTreeMap<Key, Flag>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallInFlight {
    /// What the call has shown so far.
    pub fn shown(&self) -> Vec<Shown> {
        self.showing.all()
    }

    /// Waits for what the call is doing, or until it is stopped; then that is dropped.
    pub async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, CallCancelled> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Some(reason) = self.is_cancelled_or(cx.waker()) {
                return Poll::Ready(Err(CallCancelled { reason }));
            }
            work.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Why it is to stop; if it is not, `waker` is woken when it is.
    fn is_cancelled_or(&self, waker: &Waker) -> Option<String> {
        self.calls.with(|calls| {
            let flag = calls.get_mut(&self.key);
            let flag = flag.filter(|flag| flag.number == self.number)?;
            flag.waker = Some(waker.clone());
            flag.reason.clone()
        })
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        self.calls.with(|calls| {
            if calls.get(&self.key).map(|flag| flag.number) == Some(self.number) {
                calls.remove(&self.key);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use harn_log::block_on;

    use super::*;

    #[test]
    fn work_that_nobody_stops_is_done() {
        let calls = CallsInFlight::default();
        let call = calls.begin("s", "c");
        assert_eq!(block_on(call.unless_cancelled(ready(7))), Ok(7));
        drop(call);
        assert!(!calls.cancel("s", "c", "late"));
    }

    #[test]
    fn work_that_never_ends_can_be_stopped_from_another_thread() {
        let calls = CallsInFlight::default();
        let call = calls.begin("s", "c");
        let other = calls.clone();
        let thread = std::thread::spawn(move || other.cancel("s", "c", "enough"));
        let result = block_on(call.unless_cancelled(pending::<()>()));
        let reason = "enough".to_owned();
        assert_eq!(result, Err(CallCancelled { reason }));
        assert!(thread.join().unwrap());
    }

    #[test]
    fn only_the_call_that_is_meant_is_stopped_and_only_once() {
        let calls = CallsInFlight::default();
        let call = calls.begin("s", "c");
        let neighbour = calls.begin("s", "d");
        assert!(!calls.cancel("t", "c", "x"));
        assert!(calls.cancel("s", "c", "x"));
        assert!(!calls.cancel("s", "c", "again"));
        assert_eq!(block_on(neighbour.unless_cancelled(ready(1))), Ok(1));
        assert!(block_on(call.unless_cancelled(ready(1))).is_err());
    }

    #[test]
    fn a_call_that_ends_does_not_take_a_later_one_of_its_id_along() {
        let calls = CallsInFlight::default();
        let first = calls.begin("s", "c");
        let second = calls.begin("s", "c");
        drop(first);
        assert!(calls.cancel("s", "c", "x"));
        assert!(block_on(second.unless_cancelled(pending::<()>())).is_err());
    }
}
