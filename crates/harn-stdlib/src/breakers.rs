//! Circuit breakers: after a number of failures nobody should try again for a while.
//!
//! ```text
//!            failures reach the threshold            time has passed
//! closed ────────────────────────────────► open ────────────────────► half open
//!   ▲                                       ▲                            │   │
//!   │                                       └──────────── failure ───────┘   │
//!   └──────────────────────── success, or a reset ──────────────────────────┘
//! ```
//!
//! Time is that of the clock that programs may mock.

use std::collections::HashMap;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Registry, Value, argument};

use crate::dates::clock::elapsed_ms;
use crate::tasks::milliseconds;

const THRESHOLD: i64 = 5;
const RESET_MS: i64 = 30_000;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("circuit_breaker", circuit_breaker),
        ("circuit_check", check),
        ("circuit_record_failure", record_failure),
        ("circuit_record_success", close),
        ("circuit_reset", close),
    ]);
}

/// The circuits of a run.
#[derive(Default)]
struct Circuits(HashMap<Text, Circuit>);

struct Circuit {
    /// How many failures in a row open it.
    threshold: i64,
    /// How long it stays open, in milliseconds.
    reset: i64,
    failures: i64,
    /// When it was opened; `None` while it is closed.
    opened: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Closed,
    Open,
    /// One may try whether it works again.
    HalfOpen,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

impl Circuit {
    fn new(threshold: i64, reset: i64) -> Self {
        Self {
            threshold,
            reset,
            failures: 0,
            opened: None,
        }
    }

    fn status(&self, now: i64) -> Status {
        match self.opened {
            None => Status::Closed,
            Some(opened) if now.saturating_sub(opened) >= self.reset => Status::HalfOpen,
            Some(_) => Status::Open,
        }
    }

    /// Counts a failure; whether it opens the circuit.
    fn fail(&mut self, now: i64) -> bool {
        self.failures = self.failures.saturating_add(1);
        let opens = match self.status(now) {
            Status::Closed => self.failures >= self.threshold,
            Status::HalfOpen => true,
            Status::Open => false,
        };
        if opens {
            self.opened = Some(now);
        }
        opens
    }

    fn close(&mut self) {
        self.failures = 0;
        self.opened = None;
    }
}

fn name(arguments: &[Value]) -> Text {
    match argument(arguments, 0) {
        Value::Nil => Text::new("default"),
        name => name.to_text(),
    }
}

fn circuits<'a>(context: &'a mut Context<'_>) -> &'a mut HashMap<Text, Circuit> {
    &mut context.state::<Circuits>().0
}

/// `circuit_breaker(name = "default", threshold = 5, reset_ms = 30000)`
fn circuit_breaker(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = name(arguments);
    let threshold = milliseconds(argument(arguments, 1)).unwrap_or(THRESHOLD);
    let reset = milliseconds(argument(arguments, 2)).unwrap_or(RESET_MS);
    circuits(context).insert(name.clone(), Circuit::new(threshold, reset));
    Ok(name.into())
}

fn check(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let now = elapsed_ms(context);
    let circuit = circuits(context).get(&name(arguments));
    let status = circuit.map_or(Status::Closed, |circuit| circuit.status(now));
    Ok(status.name().into())
}

fn record_failure(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let now = elapsed_ms(context);
    let circuit = circuits(context).entry(name(arguments));
    let circuit = circuit.or_insert_with(|| Circuit::new(THRESHOLD, RESET_MS));
    Ok(circuit.fail(now).into())
}

fn close(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Some(circuit) = circuits(context).get_mut(&name(arguments)) {
        circuit.close();
    }
    Ok(Value::Nil)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circuit_opens_once_and_again_after_a_failed_trial() {
        let mut circuit = Circuit::new(2, 100);
        assert!(!circuit.fail(0));
        assert_eq!(circuit.status(0), Status::Closed);
        assert!(circuit.fail(10));
        assert!(!circuit.fail(20), "it is open already");
        assert_eq!(circuit.status(109), Status::Open);
        assert_eq!(circuit.status(110), Status::HalfOpen);
        assert!(circuit.fail(110), "the trial failed");
        assert_eq!(circuit.status(209), Status::Open);
        circuit.close();
        assert_eq!(circuit.status(209), Status::Closed);
        assert!(!circuit.fail(210), "counting begins again");
    }

    #[test]
    fn a_threshold_below_one_opens_at_the_first_failure() {
        assert!(Circuit::new(0, 100).fail(0));
    }
}
