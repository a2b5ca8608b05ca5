//! Drives an isolate to its end.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harn_machine::{Answer, Brake, Failure, Isolate, Request, Step, Value};

use crate::interrupt::Interrupt;

/// How a program ended.
#[derive(Debug)]
pub enum Outcome {
    /// By itself.
    Ended(Result<Value, Failure>),
    /// Its time was over.
    TimedOut,
    /// Somebody wanted it to stop.
    Interrupted,
}

/// Runs an isolate until it ends or its time is over.
pub fn drive(isolate: &mut Isolate, timeout: Option<Duration>) -> Outcome {
    drive_until(isolate, timeout, &Interrupt::default())
}

/// The same, until somebody wants it to stop.
pub(crate) fn drive_until(
    isolate: &mut Isolate,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> Outcome {
    let brake = Rc::new(DriverBrake::new(isolate, timeout, interrupt));
    interrupt.set_deadline(brake.until);
    isolate.set_brake(Some(brake.clone()));
    let outcome = drive_with(isolate, &brake);
    isolate.set_brake(None);
    outcome
}

fn drive_with(isolate: &mut Isolate, brake: &DriverBrake) -> Outcome {
    let (until, interrupt) = (brake.until, &brake.interrupt);
    loop {
        match isolate.step() {
            Step::Done(_) if brake.was_used.get() || interrupt.has_given_up() => {
                return match interrupt.is_raised() {
                    true => Outcome::Interrupted,
                    false => Outcome::TimedOut,
                };
            }
            Step::Done(result) => return Outcome::Ended(result),
            Step::SliceSpent => {}
            // Not asked after the wait alone: the nudge of whoever raised it may have come, and
            // be gone, while the isolate took its step.
            Step::Awaiting { .. } if interrupt.is_raised() => return Outcome::Interrupted,
            Step::Awaiting { until: wake } => {
                let time = time_to_wait(isolate, wake, until);
                isolate.wait(time);
            }
        }
        if interrupt.is_raised() {
            return Outcome::Interrupted;
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Outcome::TimedOut;
        }
    }
}

/// Stops a program also while one of its builtins works.
struct DriverBrake {
    until: Option<Instant>,
    interrupt: Interrupt,
    /// What the clock that fibers sleep by has said, and when.
    elapsed: (i64, Instant),
    /// Whether a builtin was told to stop.
    was_used: Cell<bool>,
}

impl DriverBrake {
    fn new(isolate: &mut Isolate, timeout: Option<Duration>, interrupt: &Interrupt) -> Self {
        Self {
            until: timeout.map(|timeout| Instant::now() + timeout),
            interrupt: interrupt.clone(),
            elapsed: (elapsed(isolate), Instant::now()),
            was_used: Cell::new(false),
        }
    }
}

impl Brake for DriverBrake {
    fn must_stop(&self) -> bool {
        let is_over = || self.until.is_some_and(|until| Instant::now() >= until);
        let stops = self.interrupt.is_raised() || is_over();
        self.was_used.set(self.was_used.get() || stops);
        stops
    }

    fn elapsed(&self) -> i64 {
        let (then, at) = self.elapsed;
        let since = i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX);
        then.saturating_add(since)
    }
}

/// What the clock that fibers sleep by says.
fn elapsed(isolate: &mut Isolate) -> i64 {
    match isolate.effects().perform(&Request::Elapsed) {
        Answer::Number(elapsed) => elapsed,
        _ => 0,
    }
}

/// Lets an isolate whose program has ended go on with what it has left, until there is
/// something else to do.
pub(crate) fn rest_until(isolate: &mut Isolate, is_over: &dyn Fn() -> bool) {
    while !is_over() {
        match isolate.step() {
            Step::Done(_) | Step::SliceSpent => {}
            // For the same reason as above.
            Step::Awaiting { .. } if is_over() => return,
            Step::Awaiting { until: wake } => {
                let time = time_to_wait(isolate, wake, None);
                isolate.wait(time);
            }
        }
    }
}

/// How long nothing happens by itself; `None` if forever.
fn time_to_wait(
    isolate: &mut Isolate,
    wake: Option<i64>,
    until: Option<Instant>,
) -> Option<Duration> {
    let elapsed = elapsed(isolate);
    let wake = wake.map(|wake| {
        let left = u64::try_from(wake.saturating_sub(elapsed)).unwrap_or(0);
        Duration::from_millis(left)
    });
    let until = until.map(|until| until.saturating_duration_since(Instant::now()));
    [wake, until].into_iter().flatten().min()
}
