//! What stops a fiber between two instructions: errors, deadlines, cancellation, its limits.

use crate::fault::{Failure, Fault};
use crate::fiber::Fiber;
use crate::machine::Machine;

use super::unwind;

/// What is looked at between two instructions.
pub(super) enum Interrupt {
    None,
    Spent,
    Failed(Failure),
}

/// Takes an error to its handler, and stops what it leaves behind.
#[cold]
#[inline(never)]
pub(super) fn fail(
    machine: &mut Machine,
    fiber: &mut Fiber,
    failure: Failure,
) -> Result<(), Failure> {
    let failure = late(machine, fiber).unwrap_or(failure);
    if let Some(waiting) = fiber.waiting.take() {
        if let Some(effect) = waiting.effect {
            machine.scheduler.forget(effect);
            machine.effects.cancel(effect);
        }
        if let Some(group) = waiting.group {
            machine.stop_group(&group);
        }
    }
    unwind::unwind(fiber, failure)
}

/// What happens before a fiber goes on that has waited.
#[inline(never)]
pub(super) fn before_going_on(machine: &mut Machine, fiber: &mut Fiber) -> Interrupt {
    machine.budget().set_deadline(fiber.deadline());
    if fiber.waiting.is_none() {
        return Interrupt::None;
    }
    let failure = match deadline(machine, fiber) {
        Some(failure) => Some(failure),
        None => stopped_waiting(machine, fiber),
    };
    match failure {
        Some(failure) => {
            // The instruction that waits counts as being executed.
            if let Some(frame) = fiber.frames.last_mut() {
                frame.pc += 1;
            }
            Interrupt::Failed(failure)
        }
        None => Interrupt::None,
    }
}

/// A task that waits and was asked to stop.
pub(super) fn stopped_waiting(machine: &mut Machine, fiber: &mut Fiber) -> Option<Failure> {
    if !fiber.strand.must_stop() {
        return None;
    }
    let at_once = fiber
        .waiting
        .as_ref()
        .is_some_and(|waiting| waiting.stops_at_once);
    let now = machine.elapsed();
    let is_over = fiber.strand.grace.is_none_or(|grace| now >= grace.until);
    (at_once || is_over).then(cancelled)
}

pub(super) fn cancelled() -> Failure {
    Fault::thrown("kind:cancelled:VM cancelled by host")
}

/// Measures what is there. Fails if it is too much.
#[cold]
#[inline(never)]
pub(super) fn weigh(machine: &mut Machine, fiber: &Fiber) -> Result<(), Failure> {
    let live = crate::measure::measure(machine, fiber);
    machine.scheduler.budget.measured(live)
}

/// Something of that size is about to be made, or it is time to measure. If it might not fit,
/// what is there is measured first, because much of what was made may be gone.
#[cold]
#[inline(never)]
pub(super) fn make_room(
    machine: &mut Machine,
    fiber: &mut Fiber,
    bytes: usize,
) -> Result<(), Failure> {
    let budget = &machine.scheduler.budget;
    if budget.is_due() || (budget.may_exceed(bytes) && budget.made() > 0) {
        weigh(machine, fiber)?;
    }
    machine.scheduler.budget.set_deadline(fiber.deadline());
    let reserved = machine.scheduler.budget.reserve(bytes);
    reserved.map_err(|failure| late(machine, fiber).unwrap_or(failure))
}

/// The error of a body that was stopped because its block has to be over.
pub(super) fn late(machine: &mut Machine, fiber: &mut Fiber) -> Option<Failure> {
    match machine.scheduler.budget.take_late() {
        true => deadline(machine, fiber),
        false => None,
    }
}

/// What is looked at after a body that has worked for long without saying so. Nothing is measured
/// here: what the body gives is not in a register yet.
#[cold]
#[inline(never)]
pub(super) fn after_work(machine: &mut Machine, fiber: &mut Fiber) -> Result<(), Failure> {
    let looked = machine.scheduler.budget.look_at_time();
    looked.map_err(|failure| late(machine, fiber).unwrap_or(failure))
}

/// What is looked at when a fiber has had its turn.
#[inline(never)]
pub(super) fn between(machine: &mut Machine, fiber: &mut Fiber) -> Interrupt {
    if machine.scheduler.budget.is_due()
        && let Err(failure) = weigh(machine, fiber)
    {
        return Interrupt::Failed(failure);
    }
    if let Some(failure) = deadline(machine, fiber) {
        return Interrupt::Failed(failure);
    }
    if fiber.strand.must_stop() {
        let grace = fiber.strand.grace.get_or_insert(crate::fiber::Grace {
            until: 0,
            checks: super::GRACE_CHECKS,
        });
        if grace.checks == 0 {
            return Interrupt::Failed(cancelled());
        }
        grace.checks -= 1;
    }
    Interrupt::Spent
}

/// A deadline that has passed, once.
pub(super) fn deadline(machine: &mut Machine, fiber: &mut Fiber) -> Option<Failure> {
    let earliest = fiber.deadline()?;
    if earliest == i64::MAX || machine.elapsed() < earliest {
        return None;
    }
    for deadline in &mut fiber.deadlines {
        if *deadline == earliest {
            *deadline = i64::MAX;
        }
    }
    for child in std::mem::take(&mut fiber.strand.children) {
        if let Some(child) = child.upgrade().filter(|child| !child.is_over()) {
            machine.stop_task(&child);
        }
    }
    Some(Fault::thrown("Deadline exceeded"))
}
