//! Drives an isolate to its end.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use harn_machine::{Answer, EffectId, Failure, Isolate, Request, Step, Value};

/// How a program ended.
#[derive(Debug)]
pub enum Outcome {
    /// By itself.
    Ended(Result<Value, Failure>),
    /// Its time was over.
    TimedOut,
}

/// Runs an isolate until it ends or its time is over.
pub fn drive(
    isolate: &mut Isolate,
    completions: &Receiver<(EffectId, Answer)>,
    timeout: Option<Duration>,
) -> Outcome {
    let until = timeout.map(|timeout| Instant::now() + timeout);
    loop {
        match isolate.step() {
            Step::Done(result) => return Outcome::Ended(result),
            Step::SliceSpent => {
                while let Ok((id, answer)) = completions.try_recv() {
                    isolate.complete(id, answer);
                }
            }
            Step::Awaiting { until: wake } => {
                isolate.effects().idle();
                wait(isolate, completions, wake, until);
            }
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Outcome::TimedOut;
        }
    }
}

/// Waits for a completion, or until the isolate wakes by itself, or until the time is over.
fn wait(
    isolate: &mut Isolate,
    completions: &Receiver<(EffectId, Answer)>,
    wake: Option<i64>,
    until: Option<Instant>,
) {
    let now = Instant::now();
    let elapsed = match isolate.effects().perform(&Request::Elapsed) {
        Answer::Number(elapsed) => elapsed,
        _ => 0,
    };
    let wake = wake.map(|wake| {
        let left = u64::try_from(wake.saturating_sub(elapsed)).unwrap_or(0);
        now + Duration::from_millis(left)
    });
    let wake = [wake, until].into_iter().flatten().min();
    let received = match wake {
        Some(wake) => completions.recv_timeout(wake.saturating_duration_since(now)),
        None => completions.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    if let Ok((id, answer)) = received {
        isolate.complete(id, answer);
    }
}
