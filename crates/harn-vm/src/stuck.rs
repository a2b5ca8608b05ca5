//! Programs that do not notice that their time is over.
//!
//! ```text
//! begin ── time ── grace ──► the program is stuck
//!             └─ it stops by itself, and the watch ends with it
//! ```
//!
//! The interpreter and the bodies of builtins look at the clock. A call of the system that does
//! not return does not, such as one that removes a million files or waits for a disk that is
//! gone, and the thread it is on cannot be stopped from outside. So the host decides what becomes
//! of the process.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How long a program may take to notice, at the most and at the least.
const GRACE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// What is done with a program that is stuck.
#[derive(Clone)]
pub struct WhenStuck(pub Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for WhenStuck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WhenStuck")
    }
}

/// Watches a program until it is dropped.
pub(crate) struct Watch {
    /// Dropped when the program has stopped.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches a program that begins now and may take so long. `None` if there is no thread to
    /// be had; then it goes on until it notices.
    pub(crate) fn begin(timeout: Duration, when_stuck: &WhenStuck) -> Option<Self> {
        let (running, stopped) = channel();
        let patience = timeout + (timeout / 2).clamp(GRACE.0, GRACE.1);
        let WhenStuck(act) = when_stuck.clone();
        let watch = move || {
            if stopped.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                act();
            }
        };
        let thread = Builder::new().name("watch".to_owned()).spawn(watch).ok()?;
        Some(Self {
            running: Some(running),
            thread: Some(thread),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.running.take();
        if let Some(thread) = self.thread.take() {
            let _it_has_acted_or_not = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn watched(timeout: Duration) -> (Option<Watch>, std::sync::mpsc::Receiver<()>) {
        let (told, heard) = channel();
        let act = WhenStuck(Arc::new(move || {
            let _the_test_may_be_over = told.send(());
        }));
        (Watch::begin(timeout, &act), heard)
    }

    #[test]
    fn a_program_that_stops_in_time_is_left_alone() {
        let (watch, heard) = watched(Duration::from_secs(60));
        drop(watch);
        assert!(heard.recv().is_err());
    }

    #[test]
    fn a_program_that_does_not_stop_is_told_of() {
        let (_watch, heard) = watched(Duration::from_millis(1));
        heard.recv().unwrap();
    }
}
