//! What a program may still use: memory and time.
//!
//! ```text
//! instruction ─► add(bytes)      what it has made; true when it is time to measure
//! body        ─► reserve(bytes)  before a copy in one go
//!             ─► make(bytes)     for each of many small parts
//!             ─► work(units)     for what takes time and makes nothing
//! ```
//!
//! Counting what is freed would cost every value a word and every drop a visit. So only what
//! is made is counted, roughly, and once that could have filled a part of the memory that is
//! left, what is really there is measured by going through it. The more room is left, the
//! longer until the next time.
//!
//! A body runs to its end before the interpreter can look at a clock, so a body that works for
//! long looks itself, by saying what it does: about once per millisecond that asks whether the
//! program has to stop.

use std::fmt;
use std::rc::Rc;

use crate::fault::{Failure, Fault};

/// How much may be made before what is there is measured, at the least.
const STRIDE_MIN: usize = 1 << 20;

/// From which size on the system is asked whether it has so much.
const LARGE: usize = 1 << 26;

/// From this size on, in bytes, an instruction only makes a copy when it is certain that it fits.
const LARGE_COPY: usize = 1 << 16;

/// How many units of work are done between two looks at the clock. A unit is a step that takes
/// some nanoseconds, such as a short text that is made.
const WORK_UNITS: i64 = 1 << 14;

/// What it takes to ask the system for something with files, at the least.
const FILE_UNITS: i64 = 1 << 10;

/// So many bytes that are copied are one unit of work.
const BYTES_PER_UNIT: usize = 64;

/// What ends a program from outside.
pub trait Brake {
    /// Whether the program has to stop now.
    fn must_stop(&self) -> bool;

    /// Milliseconds of the clock that fibers sleep by.
    fn elapsed(&self) -> i64;
}

/// What a program may still use.
pub struct Budget {
    /// How many bytes its values may take.
    limit: Option<usize>,
    /// How many they took when they were measured last.
    live: usize,
    /// How many bytes were made since then.
    made: usize,
    /// How many may be made until it is time to measure.
    due: usize,
    /// How much work may be done until the clock is looked at.
    work_left: i64,
    brake: Option<Rc<dyn Brake>>,
    /// When the innermost block has to be over that has a deadline.
    deadline: Option<i64>,
    /// Whether a body was stopped because of that.
    is_late: bool,
}

impl fmt::Debug for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Budget");
        shown.field("limit", &self.limit).field("live", &self.live);
        shown.field("made", &self.made).finish_non_exhaustive()
    }
}

/// A budget without limits.
impl Default for Budget {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Budget {
    /// A budget with a limit of memory in bytes, and of no time yet.
    pub(crate) fn new(limit: Option<usize>) -> Self {
        let mut budget = Self {
            limit,
            live: 0,
            made: 0,
            due: usize::MAX,
            work_left: WORK_UNITS,
            brake: None,
            deadline: None,
            is_late: false,
        };
        budget.set_live(0);
        budget
    }

    /// What ends the program from outside from now on.
    pub(crate) fn set_brake(&mut self, brake: Option<Rc<dyn Brake>>) {
        self.brake = brake;
    }

    /// When the block has to be over that is called from.
    #[inline]
    pub(crate) fn set_deadline(&mut self, deadline: Option<i64>) {
        self.deadline = deadline;
    }

    /// Whether a body was stopped because its block has to be over. Tells it once.
    pub(crate) fn take_late(&mut self) -> bool {
        std::mem::take(&mut self.is_late)
    }

    /// Something of that size was made. Tells whether it is time to measure.
    #[inline]
    pub(crate) fn add(&mut self, bytes: usize) -> bool {
        self.made = self.made.saturating_add(bytes);
        self.made > self.due
    }

    /// The same for an instruction. Tells whether room has to be made for it first.
    #[inline]
    pub(crate) fn takes(&mut self, bytes: usize) -> bool {
        bytes >= LARGE_COPY || self.add(bytes)
    }

    /// How much was made since values were measured.
    pub(crate) fn made(&self) -> usize {
        self.made
    }

    /// At least so much was made since values were measured.
    pub(crate) fn made_at_least(&mut self, bytes: usize) {
        self.made = self.made.max(bytes);
    }

    /// Whether it is time to measure.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.made > self.due
    }

    /// Whether something of that size would be too much if nothing of what was made is gone.
    pub(crate) fn may_exceed(&self, bytes: usize) -> bool {
        let sum = self.live.saturating_add(self.made).saturating_add(bytes);
        self.limit.is_some_and(|limit| sum > limit)
    }

    /// So much is there. Fails if that is too much.
    pub(crate) fn measured(&mut self, live: usize) -> Result<(), Failure> {
        self.set_live(live);
        match self.limit {
            Some(limit) if live > limit => Err(over(limit)),
            _ => Ok(()),
        }
    }

    fn set_live(&mut self, live: usize) {
        self.live = live;
        self.made = 0;
        if let Some(limit) = self.limit {
            self.due = (limit.saturating_sub(live) / 4).max(STRIDE_MIN);
        }
    }

    /// Something of that size is about to be made in one go.
    ///
    /// # Errors
    /// It does not fit into the memory that is allowed, the machine does not have it, or the
    /// program has to stop.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Failure> {
        match self.limit {
            Some(limit) if self.may_exceed(bytes) => return Err(over(limit)),
            None if !is_available(bytes) => return Err(over(bytes)),
            _ => {}
        }
        self.add(bytes);
        self.work(bytes / BYTES_PER_UNIT)
    }

    /// One of many small parts is about to be made.
    ///
    /// # Errors
    /// As for [`reserve`](Self::reserve), a little later.
    #[inline]
    pub fn make(&mut self, bytes: usize) -> Result<(), Failure> {
        self.made = self.made.saturating_add(bytes);
        self.work(1 + bytes / BYTES_PER_UNIT)
    }

    /// Steps are about to be made that take some nanoseconds each.
    ///
    /// # Errors
    /// The program has to stop.
    #[inline]
    pub fn work(&mut self, units: usize) -> Result<(), Failure> {
        self.work_left = self.work_left.saturating_sub_unsigned(units as u64);
        match self.work_left < 0 {
            true => self.look_up(),
            false => Ok(()),
        }
    }

    /// So much more of something was gone through that would take so much if it were made.
    ///
    /// # Errors
    /// It would not fit, or the program has to stop.
    pub(crate) fn pass(&mut self, bytes: usize, total: usize) -> Result<(), Failure> {
        match self.limit {
            Some(limit) if self.may_exceed(total) => Err(over(limit)),
            _ => self.read(bytes),
        }
    }

    /// Octets are about to be read that need not be copied.
    ///
    /// # Errors
    /// The program has to stop.
    #[inline]
    pub fn read(&mut self, octets: usize) -> Result<(), Failure> {
        self.work(1 + octets / BYTES_PER_UNIT)
    }

    /// Looks at what could end the program.
    #[cold]
    fn look_up(&mut self) -> Result<(), Failure> {
        if let Some(limit) = self.limit
            && self.may_exceed(0)
        {
            return Err(over(limit));
        }
        self.look_at_time()
    }

    /// Looks at the clock, and at whether anything else wants the program to stop.
    pub(crate) fn look_at_time(&mut self) -> Result<(), Failure> {
        self.work_left = WORK_UNITS;
        let Some(brake) = &self.brake else {
            return Ok(());
        };
        if brake.must_stop() {
            return Err(Fault::stopped("the program was stopped"));
        }
        if self.deadline.is_some_and(|until| brake.elapsed() >= until) {
            self.is_late = true;
            return Err(Fault::thrown("Deadline exceeded"));
        }
        Ok(())
    }

    /// A body has asked the system for something with files, and has written so many octets. It
    /// is noticed when the body ends, because much of that can take time.
    pub(crate) fn has_asked(&mut self, octets: usize) {
        self.work_left -= FILE_UNITS + (octets / BYTES_PER_UNIT) as i64;
    }

    /// A body has worked so much, which it has not said itself. Tells whether it is time to
    /// look at the clock.
    #[inline]
    pub(crate) fn has_worked(&mut self, bytes: usize) -> bool {
        self.work_left -= 1 + (bytes / BYTES_PER_UNIT) as i64;
        self.work_left < 0
    }
}

/// Whether the system would give so much memory. Without a limit the budget has to say no before
/// the allocator does, because that ends the process.
fn is_available(bytes: usize) -> bool {
    bytes < LARGE || Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

fn over(limit: usize) -> Failure {
    Fault::stopped(format!("Memory limit exceeded: {limit} bytes"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct After(Cell<u32>);

    impl Brake for After {
        fn must_stop(&self) -> bool {
            self.0.set(self.0.get().saturating_sub(1));
            self.0.get() == 0
        }

        fn elapsed(&self) -> i64 {
            i64::from(self.0.get())
        }
    }

    #[test]
    fn what_is_there_counts_when_something_is_reserved() {
        let mut budget = Budget::new(Some(100 << 20));
        budget.measured(60 << 20).unwrap();
        assert!(budget.reserve(30 << 20).is_ok());
        let refused = budget.reserve(30 << 20).unwrap_err();
        assert_eq!(refused.text(), "Memory limit exceeded: 104857600 bytes");
    }

    #[test]
    fn many_small_parts_are_refused_when_they_are_too_much_together() {
        let mut budget = Budget::new(Some(10 << 20));
        let made = (0..1 << 20).take_while(|_| budget.make(72).is_ok()).count();
        let most = (11 << 20) / 72;
        assert!((140_000..most).contains(&made), "{made}");
    }

    #[test]
    fn work_is_stopped_by_the_brake_and_not_at_once() {
        let mut budget = Budget::new(None);
        budget.set_brake(Some(Rc::new(After(Cell::new(3)))));
        let units = usize::try_from(WORK_UNITS).unwrap();
        let worked = (0..10).take_while(|_| budget.work(units).is_ok()).count();
        assert!((3..8).contains(&worked), "{worked}");
        let stopped = budget.reserve(2 * BYTES_PER_UNIT * units).unwrap_err();
        assert!(!stopped.is_catchable());
    }

    #[test]
    fn a_block_with_a_deadline_stops_work_with_an_error_that_can_be_caught() {
        let mut budget = Budget::new(None);
        budget.set_brake(Some(Rc::new(After(Cell::new(1000)))));
        budget.set_deadline(Some(10));
        let late = budget.work(1 << 20).unwrap_err();
        assert!(late.is_catchable() && budget.take_late());
        assert_eq!(late.value().show(), "Deadline exceeded");
    }
}
