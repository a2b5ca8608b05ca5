//! How much memory a program may use.
//!
//! Counting what is freed would cost every value a word and every drop a visit. So only what
//! is made is counted, roughly, and once that could have filled the memory that is allowed,
//! what is really there is measured by going through it. The more room is left, the longer
//! until the next time.

use crate::fault::{Failure, Fault};

/// How much may be made before what is there is measured, at the least.
const STRIDE_MIN: usize = 1 << 20;

/// From which size on the system is asked whether it has so much.
const LARGE: usize = 1 << 26;

/// Counts what a program makes.
#[derive(Debug)]
pub struct Meter {
    limit: Option<usize>,
    made: usize,
    next: usize,
}

impl Meter {
    /// A meter with a limit in bytes.
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            made: 0,
            next: limit.unwrap_or(usize::MAX),
        }
    }

    /// Something of that size was made.
    #[inline]
    pub(crate) fn add(&mut self, bytes: usize) {
        self.made = self.made.saturating_add(bytes);
    }

    /// Whether it is time to measure.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.made >= self.next
    }

    /// So much is there. Fails if that is too much.
    pub(crate) fn measured(&mut self, live: usize) -> Result<(), Failure> {
        let Some(limit) = self.limit else {
            return Ok(());
        };
        if live > limit {
            return Err(over(limit));
        }
        self.next = self
            .made
            .saturating_add(((limit - live) / 2).max(STRIDE_MIN));
        Ok(())
    }

    /// Something of that size is about to be made in one go.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Failure> {
        self.add(bytes);
        match self.limit {
            Some(limit) if bytes > limit => Err(over(limit)),
            None if !is_available(bytes) => Err(over(bytes)),
            _ => Ok(()),
        }
    }
}

/// Whether the system would give so much memory. Without a limit somebody has to say no before
/// the allocator does, because that ends the process.
fn is_available(bytes: usize) -> bool {
    bytes < LARGE || Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

fn over(limit: usize) -> Failure {
    Fault::stopped(format!("Memory limit exceeded: {limit} bytes"))
}
