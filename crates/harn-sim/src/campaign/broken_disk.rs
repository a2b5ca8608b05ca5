//! Scenarios on a disk that breaks.

use harn_log::FileOptions;

use crate::disk::{Crash, Fault, FaultKind, SimDisk};
use crate::random::Random;

use super::model::Checked;
use super::program::Program;
use super::run::Run;
use super::scenario::Scenario;
use super::{Outcome, Telling};

/// Any program, any faults, any number of crashes.
pub(super) fn random(seed: u64, options: &FileOptions, telling: Telling) -> Outcome {
    let mut random = Random::new(seed);
    let program = Program::random(&mut random);
    let disk = SimDisk::new(random.number());
    let mut at = 0;
    for _ in 0..random.below(4) {
        let reach = 4 * program.steps.len() as u64 + 12;
        at += random.between(1, reach);
        let kind = *random.pick(&FaultKind::ALL);
        disk.plan(Fault { at, kind });
    }
    let crash = *random.pick(&[Crash::Process, Crash::Power, Crash::Power]);
    play(&program, disk, crash, options, random, telling)
}

/// A fixed program with one fault.
pub(super) fn sweep(
    (program, at, fault, seed): (u64, u64, u64, u64),
    options: &FileOptions,
    telling: Telling,
) -> Outcome {
    let programs = Program::fixed();
    let program = &programs[usize::try_from(program).unwrap_or(0) % programs.len()];
    let kinds = FaultKind::ALL;
    let kind = kinds[usize::try_from(fault).unwrap_or(0) % kinds.len()];
    let disk = SimDisk::new(seed);
    disk.plan(Fault { at, kind });
    let crash = match seed % 2 {
        0 => Crash::Process,
        _ => Crash::Power,
    };
    play(program, disk, crash, options, Random::new(seed), telling)
}

/// Every fault at every operation of every fixed program, with `seeds` outcomes each.
pub(super) fn sweeps(seeds: u64) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (program, steps) in Program::fixed().iter().enumerate() {
        let operations = operations_of(steps);
        for at in 1..=operations {
            for fault in 0..FaultKind::ALL.len() as u64 {
                let sweep = |seed| Scenario::Sweep {
                    program: program as u64,
                    at,
                    fault,
                    seed,
                };
                scenarios.extend((0..seeds).map(sweep));
            }
        }
    }
    scenarios
}

/// How many operations a program takes when nothing goes wrong, with the end that
/// every scenario has.
fn operations_of(program: &Program) -> u64 {
    let options = FileOptions::default();
    let options = options_of(program, &options);
    let run = Run::start(SimDisk::new(0), options, Random::new(0));
    let Ok(mut run) = run else { return 0 };
    for step in &program.steps {
        if run.step(step).is_err() {
            break; // It will be found again, by name.
        }
    }
    run.disk().operations()
}

fn play(
    program: &Program,
    disk: SimDisk,
    crash: Crash,
    options: &FileOptions,
    random: Random,
    telling: Telling,
) -> Outcome {
    if telling == Telling::Everything {
        disk.listen();
        let segment = program.segment_bytes_max;
        disk.tell(|| format!("segments of {segment} bytes, then a {crash:?} crash"));
    }
    let view = disk.reboot();
    let played = (|| -> Checked {
        let mut run = Run::start(disk, options_of(program, options), random)?;
        for step in &program.steps {
            run.step(step)?;
        }
        run.finish(crash)
    })();
    Outcome {
        violation: played.err(),
        trace: view.trace(),
        story: view.story(),
    }
}

fn options_of(program: &Program, options: &FileOptions) -> FileOptions {
    FileOptions {
        segment_bytes_max: program.segment_bytes_max,
        queue_depth: 4,
        ..options.clone()
    }
}
