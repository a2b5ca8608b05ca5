//! Breaks a log in every way we can think of, and checks what is left.
//!
//! ```text
//! scenario ──► program, disk, faults ──► crash ──► reopen, append, read all
//!                      │                                  │
//!                      └──► model: what was promised ──► is it there, unchanged,
//!                                                        and is every loss reported?
//! ```
//!
//! | part     | what breaks                                                         |
//! |----------|---------------------------------------------------------------------|
//! | disk     | a simulated disk: any operation fails, halves, forgets; power cuts   |
//! | files    | files on the disk: cut off, overwritten with NULs, with flipped bits |
//! | kill     | real processes, killed while they append to real files               |
//! | sessions | processes of `harn`, killed while they converse with a model         |
//!
//! A scenario is decided by its name alone, so whatever fails can be run again. Where real
//! processes are killed, the moment is as exact as the clock of the machine.

mod broken_disk;
mod damaged_files;
mod killed;
mod lines;
mod model;
mod program;
mod run;
mod scenario;
mod sessions;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use harn_log::FileOptions;

use damaged_files::SmallLogs;
pub use killed::child;
pub use model::Violation;
pub use scenario::Scenario;
pub use sessions::SESSION_KILLS;

/// How much is told about a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Whether it went well.
    Verdict,
    /// Every step and every operation.
    Everything,
}

/// What became of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What must not have happened.
    pub violation: Option<Violation>,
    /// A number that is the same for scenarios that did the same.
    pub trace: u64,
    /// Every step, if somebody wanted to know.
    pub story: Vec<String>,
}

impl Outcome {
    fn failed(violation: Violation) -> Self {
        Self {
            violation: Some(violation),
            ..Self::default()
        }
    }
}

/// The scenarios of a log that is opened with these options.
pub struct Campaign {
    options: FileOptions,
    /// The program whose `child` is killed.
    program: Option<PathBuf>,
    /// The `harn` whose sessions are interrupted.
    harn: Option<PathBuf>,
    small_logs: OnceLock<Result<SmallLogs, Violation>>,
}

impl Campaign {
    /// A campaign against a log with these options.
    pub fn new(options: FileOptions) -> Self {
        Self {
            options,
            program: None,
            harn: None,
            small_logs: OnceLock::new(),
        }
    }

    /// The same, with the program whose children are killed.
    #[must_use]
    pub fn with_program(mut self, program: PathBuf) -> Self {
        self.program = Some(program);
        self
    }

    /// The same, with the `harn` whose sessions are interrupted.
    #[must_use]
    pub fn with_harn(mut self, harn: PathBuf) -> Self {
        self.harn = Some(harn);
        self
    }

    /// Runs one scenario. A log that panics has failed.
    pub fn run(&self, scenario: Scenario, telling: Telling) -> Outcome {
        let run = || match scenario {
            Scenario::Disk(seed) => broken_disk::random(seed, &self.options, telling),
            Scenario::Sweep {
                program,
                at,
                fault,
                seed,
            } => broken_disk::sweep((program, at, fault, seed), &self.options, telling),
            Scenario::Files {
                log,
                file,
                at,
                change,
            } => match self.small_logs() {
                Ok(logs) => logs.run((log, file, at, change), &self.options),
                Err(violation) => Outcome::failed(violation.clone()),
            },
            Scenario::Kill(seed) => match &self.program {
                Some(program) => killed::run(seed, &self.options, program),
                None => Outcome::failed(Violation("there is no program to kill".to_owned())),
            },
            Scenario::Session(seed) => match &self.harn {
                Some(harn) => sessions::run(seed, harn),
                None => Outcome::failed(Violation("there is no `harn` to kill".to_owned())),
            },
        };
        let panicked = || Outcome::failed(Violation("it panicked".to_owned()));
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| panicked())
    }

    /// Every change at every byte of every file of some small logs.
    ///
    /// # Errors
    /// Not even an undamaged log works.
    pub fn files_scenarios(&self) -> Result<Vec<Scenario>, Violation> {
        match self.small_logs() {
            Ok(logs) => Ok(logs.scenarios()),
            Err(violation) => Err(violation.clone()),
        }
    }

    fn small_logs(&self) -> &Result<SmallLogs, Violation> {
        self.small_logs
            .get_or_init(|| SmallLogs::build(&self.options))
    }
}

/// Random programs from a seed on.
pub fn disk_scenarios(seed: u64, count: u64) -> Vec<Scenario> {
    (seed..seed + count).map(Scenario::Disk).collect()
}

/// Rounds of killed processes from a seed on.
pub fn kill_scenarios(seed: u64, count: u64) -> Vec<Scenario> {
    (seed..seed + count).map(Scenario::Kill).collect()
}

/// Conversations whose processes are killed, from a seed on.
pub fn session_scenarios(seed: u64, count: u64) -> Vec<Scenario> {
    (seed..seed + count).map(Scenario::Session).collect()
}

/// Every fault at every operation of the fixed programs, with so many outcomes each.
pub fn sweep_scenarios(seeds: u64) -> Vec<Scenario> {
    broken_disk::sweeps(seeds)
}

/// What became of many scenarios.
#[derive(Debug, Default)]
pub struct Report {
    /// How many there were.
    pub scenarios: u64,
    /// How many of them did something that no other did.
    pub distinct: u64,
    /// Those that failed.
    pub failures: Vec<(Scenario, Violation)>,
}

/// Runs scenarios on all processors. Stops when `failures_max` of them have failed.
pub fn run_all(campaign: &Campaign, scenarios: &[Scenario], failures_max: usize) -> Report {
    let next = AtomicUsize::new(0);
    let traces = Mutex::new(HashSet::new());
    let report = Mutex::new(Report::default());
    let lock = || report.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = campaign.run(*scenario, Telling::Verdict);
            let mut traces = traces.lock().unwrap_or_else(PoisonError::into_inner);
            traces.insert(outcome.trace);
            drop(traces);
            let mut report = lock();
            report.scenarios += 1;
            let failure = outcome.violation.map(|violation| (*scenario, violation));
            report.failures.extend(failure);
            if report.failures.len() >= failures_max {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    let traces = traces.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.distinct = traces.len() as u64;
    report.failures.sort_by_key(|(scenario, _)| *scenario);
    report
}
