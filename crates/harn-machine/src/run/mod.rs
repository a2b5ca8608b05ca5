//! Running fibers.

use std::rc::Rc;

use crate::closure::Closure;
use crate::fiber::Fiber;
use crate::value::Value;

/// How long a task that was asked to stop may wait for something, in milliseconds.
pub(crate) const GRACE_MS: i64 = 250;
/// How many times a task that was asked to stop may be checked before it must.
pub(crate) const GRACE_CHECKS: u32 = 2;

/// Prepares a fiber to run a closure.
pub(crate) fn prepare(_fiber: &mut Fiber, _closure: Rc<Closure>, _arguments: Vec<Value>) {}
