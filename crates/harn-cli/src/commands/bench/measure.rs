//! Runs a pipeline until it is known how long it takes.

use std::path::Path;
use std::time::{Duration, Instant};

use harn_check::modules::Workspace;
use harn_vm::machine::{Entry, FaultKind, Stream};
use harn_vm::policy::Policy;
use harn_vm::{Outcome, Program, RunOptions, Sink, WorldOptions, runtime_error};

use super::super::answers;
use super::statistics::{Statistics, is_stable};
use crate::environment;

/// Runs that do not count: caches fill, and memory is asked for.
const WARM_UP_RUNS: usize = 3;
/// Fewer runs than this say nothing, unless there is no time for more.
const RUNS_MIN: usize = 20;
/// More are not kept.
const RUNS_MAX: usize = 1_000_000;
/// It is looked at whether times are stable after so many runs, and then ever more.
const LOOK_AFTER: usize = 100;
/// A run that takes longer than this has failed.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// Measures a pipeline of a file for at most this time, though at least once. It may do what a
/// policy allows.
///
/// # Errors
/// What went wrong, if it cannot be run.
pub(super) fn measure(
    workspace: &mut Workspace,
    path: &Path,
    pipeline: &str,
    time: Duration,
    policy: &Policy,
) -> Result<Statistics, String> {
    let options = RunOptions {
        world: WorldOptions {
            environment: environment::all(),
            models: answers::of_project(Some(path)),
            policy: policy.clone(),
            ..WorldOptions::default()
        },
        is_detached: true,
        timeout: Some(RUN_TIMEOUT),
        entry: Entry::Named(pipeline.to_owned()),
        ..RunOptions::default()
    };
    let mut program = Program::new(workspace, path)
        .load(&options, Box::new(Silent))
        .map_err(|error| format!("Compile error: {error}"))?;
    let until = Instant::now() + time;
    check(program.run())?;
    let mut run = || -> Result<u64, String> {
        let started = Instant::now();
        let ended = program.run_again().ok_or("there is no such pipeline")?;
        let took = started.elapsed();
        check(ended)?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    };
    for _ in 0..WARM_UP_RUNS {
        if Instant::now() < until {
            run()?;
        }
    }
    let mut times = vec![run()?];
    let mut look = LOOK_AFTER;
    while times.len() < RUNS_MAX && Instant::now() < until {
        times.push(run()?);
        if times.len() >= look {
            if is_stable(&times) {
                break;
            }
            look += look / 2;
        }
        // A slow one is not looked at that often.
        let is_slow = times.len() >= RUNS_MIN && times.len() < LOOK_AFTER;
        if is_slow && until - Instant::now().min(until) < time / 2 && is_stable(&times) {
            break;
        }
    }
    Ok(Statistics::of(times))
}

fn check(ended: Outcome) -> Result<(), String> {
    match ended {
        Outcome::Ended(Ok(_)) => Ok(()),
        Outcome::Ended(Err(failure)) => match failure.kind {
            FaultKind::Exit(0) => Ok(()),
            FaultKind::Exit(status) => Err(format!("it ended with exit({status})")),
            _ => Err(runtime_error(&failure).to_string()),
        },
        Outcome::Interrupted => Err("interrupted".to_owned()),
        Outcome::TimedOut => Err(format!("timed out after {}ms", RUN_TIMEOUT.as_millis())),
    }
}

/// Throws away what a program writes.
struct Silent;

impl Sink for Silent {
    fn write(&mut self, _stream: Stream, _text: &str) {}

    fn flush(&mut self) {}
}
