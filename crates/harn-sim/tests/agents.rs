//! Agents keep their promises while everything around them misbehaves.
//!
//! `HARN_SIM_SEEDS=100000` runs more seeds, `HARN_SIM_SEED=17` runs one and tells its story.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, and tells its story"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::thread;

use harn_sim::agents::{Report, Simulation};

/// Seeds that are run when nobody says so.
const SEEDS: u64 = 2_000;

/// The same where agents start agents, which takes longer.
const SEEDS_WITH_CHILDREN: u64 = 400;

/// Loops are polled inside each other, as deep as they may start each other, and frames are
/// large in tests.
const STACK_BYTES: usize = 64 << 20;

/// Failures after which nobody needs more.
const FAILURES_MAX: usize = 3;

fn number(name: &str) -> Option<u64> {
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever runs a test by hand says so there"
    )]
    let given = std::env::var(name).ok()?;
    given.parse().ok()
}

/// Panics that belong to a simulation are not worth a word.
fn be_quiet() {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let is_simulated = info
                .payload()
                .downcast_ref::<String>()
                .is_some_and(|text| text.starts_with("simulated:"));
            if !is_simulated {
                usual(info);
            }
        }));
    });
}

fn tell(report: &Report) -> String {
    let story = report.story.join("\n  ");
    let events = report.events.join("\n  ");
    let problems = report.problems.join("\n  ");
    let seed = report.seed;
    format!(
        "seed {seed}\n  {story}\nevents\n  {events}\nproblems of seed {seed}\n  {problems}\n\
         run it again with HARN_SIM_SEED={seed}\n"
    )
}

#[test]
fn agents_keep_their_promises_whatever_happens() {
    let (counts, seeds) = run_seeds(&Simulation::default(), SEEDS);
    assert_happened(&counts, seeds, &WILD);
}

#[test]
fn agents_that_start_agents_keep_their_promises_whatever_happens() {
    let (counts, seeds) = run_seeds(&Simulation::with_children(), SEEDS_WITH_CHILDREN);
    assert_happened(&counts, seeds, &CHILDREN);
}

/// Runs seeds until one fails; gives how often things happened in how many of them.
fn run_seeds(simulation: &Simulation, usual: u64) -> (BTreeMap<String, u64>, u64) {
    be_quiet();
    if let Some(seed) = number("HARN_SIM_SEED") {
        let report = simulation.run(seed);
        println!("{}", tell(&report));
        assert!(report.problems.is_empty());
        return (BTreeMap::new(), 0);
    }
    let seeds = number("HARN_SIM_SEEDS").unwrap_or(usual);
    let next = AtomicU64::new(0);
    let failures = Mutex::new(Vec::new());
    let counts: Mutex<BTreeMap<String, u64>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            let running = thread.spawn_scoped(scope, || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds || failures.lock().unwrap().len() >= FAILURES_MAX {
                        return;
                    }
                    let report = simulation.run(seed);
                    let mut counts = counts.lock().unwrap();
                    for (what, count) in &report.counts {
                        *counts.entry(what.clone()).or_default() += count;
                    }
                    drop(counts);
                    if !report.problems.is_empty() {
                        failures.lock().unwrap().push(tell(&report));
                    }
                }
            });
            running.unwrap();
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("{counts:#?}");
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    (counts, seeds)
}

/// What has to happen in a simulation of loops.
const WILD: [&str; 12] = [
    "run was dropped",
    "run threw",
    "run ended \"done\"",
    "run ended \"stuck\"",
    "run ended \"budget_exhausted\"",
    "tool panicked at once",
    "tool panicked later",
    "tool slow",
    "sink panicked",
    "subscriber panicked at once",
    "model cut in the middle",
    "model silence in the middle",
];

/// What has to happen in a simulation of loops that start loops.
const CHILDREN: [&str; 9] = [
    "run was dropped",
    "child ok true",
    "child ok false",
    "close_agent done",
    "suspend_agent done",
    "resume_agent done",
    "send_input done",
    "worker was running",
    "worker update",
];

/// A simulation in which nothing happens proves nothing.
fn assert_happened(counts: &BTreeMap<String, u64>, seeds: u64, wanted: &[&str]) {
    for what in wanted {
        let count = counts.get(*what).copied().unwrap_or(0);
        assert!(count >= seeds / 100, "{what} happened {count} times only");
    }
}

#[test]
fn a_seed_decides_everything() {
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    let running = thread.spawn(run_seeds_twice).unwrap();
    running.join().unwrap();
}

fn run_seeds_twice() {
    be_quiet();
    for seed in 0..90 {
        let simulation = match seed % 2 {
            0 => Simulation::default(),
            _ => Simulation::with_children(),
        };
        if !simulation.is_decided_by(seed) {
            continue;
        }
        let [one, other] = [simulation.run(seed), simulation.run(seed)];
        assert_eq!(one.events, other.events, "seed {seed}");
        assert_eq!(one.story, other.story, "seed {seed}");
    }
}
