//! Locks that outlive a panic.
//!
//! Reader code never runs under one of our locks, so a poisoned lock can only
//! mean that one of our own assertions failed; the state behind it is a list or
//! a counter that is valid after every statement. Going on beats panicking on
//! every later event.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) trait Recover<T> {
    /// Locks, also after a panic elsewhere.
    fn recover(&self) -> MutexGuard<'_, T>;
}

impl<T> Recover<T> for Mutex<T> {
    fn recover(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) trait RecoverShared<T> {
    /// Locks for reading, also after a panic elsewhere.
    fn recover_read(&self) -> RwLockReadGuard<'_, T>;
    /// Locks for writing, also after a panic elsewhere.
    fn recover_write(&self) -> RwLockWriteGuard<'_, T>;
}

impl<T> RecoverShared<T> for RwLock<T> {
    fn recover_read(&self) -> RwLockReadGuard<'_, T> {
        self.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn recover_write(&self) -> RwLockWriteGuard<'_, T> {
        self.write().unwrap_or_else(PoisonError::into_inner)
    }
}
