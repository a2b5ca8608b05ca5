//! Stopping a program from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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

    /// Whoever waits there is woken.
    pub(crate) fn attach(&self, outside: Outside) {
        let kept = self.shared.outside.lock();
        *kept.unwrap_or_else(PoisonError::into_inner) = Some(outside);
    }
}
