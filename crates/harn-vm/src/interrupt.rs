//! Stopping a program from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use harn_machine::Outside;

/// Stops a program from another thread, such as one that hears of Ctrl-C. The program ends at
/// its next instruction or wait, and what it has begun is given up in good order: loops of
/// agents close what they have opened.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_raised: AtomicBool,
    /// Whether a wait of the program was given up because it is to end.
    has_given_up: AtomicBool,
    /// When the time of the program is over, if it has a limit.
    deadline: Mutex<Option<Instant>>,
    /// Where the program waits, once there is one.
    outside: Mutex<Option<Outside>>,
}

impl Interrupt {
    /// Stops the program, or one that is yet to be run.
    pub fn raise(&self) {
        self.shared.is_raised.store(true, Ordering::Release);
        self.nudge();
    }

    /// Wakes the program, so that whoever drives it looks up.
    pub fn nudge(&self) {
        let outside = self.shared.outside.lock();
        let outside = outside.unwrap_or_else(PoisonError::into_inner);
        if let Some(outside) = &*outside {
            outside.nudge();
        }
    }

    /// Whether somebody wants the program to stop.
    pub fn is_raised(&self) -> bool {
        self.shared.is_raised.load(Ordering::Acquire)
    }

    /// The program has so much time.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        let known = self.shared.deadline.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = deadline;
        self.shared.has_given_up.store(false, Ordering::Release);
    }

    /// Whether the program is to end, because somebody wants it to or because its time is over.
    pub(crate) fn is_due(&self) -> bool {
        let deadline = self.shared.deadline.lock();
        let deadline = *deadline.unwrap_or_else(PoisonError::into_inner);
        self.is_raised() || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether something that waits in the program has to give up.
    pub(crate) fn gives_up_waiting(&self) -> bool {
        let is_due = self.is_due();
        if is_due {
            self.shared.has_given_up.store(true, Ordering::Release);
        }
        is_due
    }

    /// Whether something did. What the program did after that was done without an answer.
    pub(crate) fn has_given_up(&self) -> bool {
        self.shared.has_given_up.load(Ordering::Acquire)
    }

    /// Whoever waits there is woken.
    pub(crate) fn attach(&self, outside: Outside) {
        let kept = self.shared.outside.lock();
        *kept.unwrap_or_else(PoisonError::into_inner) = Some(outside);
    }
}
