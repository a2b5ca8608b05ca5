//! `map`, `filter` and `reduce` of lists, whose callback is entered again and again.
//!
//! A function of the library would enter a frame for every item and leave it again. Here the
//! frame of the callback stays, and is started anew with the next item:
//!
//! ```text
//! caller's registers … list, callback │ position │ result so far │ callback's registers …
//!                      the window       base − 2    base − 1        base
//! ```
//!
//! Only callbacks that take exactly what they are given are run like this; all others are
//! called by the library's function of the same name.

#![allow(
    unsafe_code,
    reason = "a callback is started anew millions of times; `returned` says what it relies on"
)]

use std::mem::MaybeUninit;
use std::rc::Rc;

use crate::fiber::{BOUNDARY, DEPTH_MAX, Fiber};
use crate::registry::Each;
use crate::value::Value;

use super::call::{Called, Site, leave, push_frame};
use super::register::{copy, duplicate, give, lift, put, put_int, take};

/// The frame of a callback that maps items.
pub(crate) const MAPS: u8 = 4;
/// The frame of a callback that chooses items.
pub(crate) const FILTERS: u8 = 8;
/// The frame of a callback that folds items.
pub(crate) const REDUCES: u8 = 16;
/// The frame of a callback that is started anew with each item.
pub(crate) const EACH: u8 = MAPS | FILTERS | REDUCES;

/// Begins to go through the list in the window, if it can be done here.
pub(super) fn begin(fiber: &mut Fiber, each: Each, site: Site) -> Option<Called> {
    let takes = if each == Each::Reduce { 2 } else { 1 };
    let frame = fiber.frames.last()?;
    let top = frame.base as usize + usize::from(frame.closure.function.registers);
    let end = site.window + site.argc;
    if site.argc != takes + 1 || end > top || fiber.depth >= DEPTH_MAX {
        return None;
    }
    let Value::Closure(callback) = &fiber.stack[site.window + takes] else {
        return None;
    };
    let fits = callback.function.is_simple && callback.function.parameters.len() == takes;
    let Value::List(items) = fiber.stack[site.window].clone() else {
        return None;
    };
    if !fits {
        return None;
    }
    let callback = callback.clone();
    let Some(first) = items.first() else {
        let value = match each {
            Each::Reduce => std::mem::take(&mut fiber.stack[site.window + 1]),
            Each::Map | Each::Filter => Value::list(Vec::new()),
        };
        fiber.stack[site.window..end].fill(Value::Nil);
        return Some(Called::Value(value));
    };
    let base = top + 2;
    fiber.grow(base + takes);
    let room = if each == Each::Map { items.len() } else { 0 };
    fiber.stack[top] = Value::Int(1);
    fiber.stack[top + 1] = Value::list(Vec::with_capacity(room));
    if each == Each::Reduce {
        fiber.stack[base] = std::mem::take(&mut fiber.stack[site.window + 1]);
    }
    fiber.stack[base + takes - 1] = first.clone();
    let flags = match each {
        Each::Map => MAPS,
        Each::Filter => FILTERS,
        Each::Reduce => REDUCES,
    };
    let inner = Site {
        window: base,
        argc: takes,
        result: site.result,
        flags: BOUNDARY | flags,
    };
    push_frame(fiber, callback, inner);
    Some(Called::Entered)
}

/// The callback in the frame on top has given a value: it is started anew, or its caller goes
/// on.
///
/// # Safety
///
/// The frame on top must have been entered by [`begin`], and `value` must be one of its
/// registers, or nobody else's.
#[inline(never)]
pub(super) unsafe fn returned(fiber: &mut Fiber, value: *mut Value) {
    // SAFETY: the frame was entered by `begin`, so there are a caller and two registers below
    // its own; the window is among the registers of the caller. All of them hold values.
    unsafe {
        let count = fiber.frames.len();
        let caller = fiber.frames.get_unchecked(count - 2);
        let call = *caller
            .closure
            .function
            .code
            .get_unchecked(caller.pc as usize - 1);
        let window = caller.base as usize + usize::from(call.b());
        let frame = fiber.frames.get_unchecked_mut(count - 1);
        let (base, flags) = (frame.base as usize, frame.flags);
        let stack = fiber.stack.as_mut_ptr();
        let (Value::List(items), Value::Int(position)) =
            (&*stack.add(window), &*stack.add(base - 2))
        else {
            return;
        };
        let position = *position as usize;
        let folds = flags & REDUCES != 0;
        if !folds && let Value::List(out) = &mut *stack.add(base - 1) {
            if flags & MAPS != 0 {
                out.items_mut().push(take(value));
            } else if (*value).is_truthy() {
                out.items_mut()
                    .push(duplicate(items.get_unchecked(position - 1)));
            }
        }
        let folded = if folds {
            lift(value)
        } else {
            [MaybeUninit::new(0); 2]
        };
        let takes = usize::from(folds) + 1;
        let Some(next) = items.get(position) else {
            if folds {
                give(stack.add(base - 1), folded);
            }
            return finish(fiber, window..window + takes + 1, base);
        };
        let next: *const Value = next;
        for at in 0..usize::from(frame.closure.function.registers) {
            let register = stack.add(base + at);
            if (*register).is_counted() {
                put(register, Value::Nil);
            }
        }
        frame.pc = 0;
        put_int(stack.add(base - 2), position as i64 + 1);
        copy(stack.add(base + takes - 1), next);
        if folds {
            give(stack.add(base), folded);
        }
        if let Value::Closure(callback) = &*stack.add(window + takes)
            && !Rc::ptr_eq(&frame.closure, callback)
        {
            // It has called something else in place of itself.
            let callback = callback.clone();
            let needed = base + usize::from(callback.function.registers);
            frame.closure = callback;
            fiber.grow(needed);
        }
    }
}

/// The same for a value that is in no register.
pub(super) fn returned_value(fiber: &mut Fiber, mut value: Value) {
    // SAFETY: whoever asks has seen that the frame on top is one of a callback, and the value
    // is nobody else's.
    unsafe { returned(fiber, &raw mut value) }
}

/// The caller goes on with the result.
fn finish(fiber: &mut Fiber, window: std::ops::Range<usize>, base: usize) {
    let Some(frame) = leave(fiber) else {
        return;
    };
    let value = std::mem::take(&mut fiber.stack[base - 1]);
    fiber.stack[window].fill(Value::Nil);
    if let Some(caller) = fiber.frames.last() {
        let result = caller.base as usize + usize::from(frame.result);
        fiber.stack[result] = value;
    }
}

/// An error leaves the frame of a callback: what was collected is dropped.
pub(super) fn abandon(fiber: &mut Fiber, base: usize) {
    fiber.stack[base - 1] = Value::Nil;
}
