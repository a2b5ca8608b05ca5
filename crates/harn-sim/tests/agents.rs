//! Agents keep their promises while everything around them misbehaves.
//!
//! `HARN_SIM_SEEDS=100000` runs more seeds, `HARN_SIM_SEED=17` runs one and tells its story.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::thread;

use harn_sim::agents::{Report, Simulation};

/// Seeds that are run when nobody says so.
const SEEDS: u64 = 2_000;

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
    be_quiet();
    let simulation = Simulation::default();
    if let Some(seed) = number("HARN_SIM_SEED") {
        let report = simulation.run(seed);
        println!("{}", tell(&report));
        assert!(report.problems.is_empty());
        return;
    }
    let seeds = number("HARN_SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let failures = Mutex::new(Vec::new());
    let counts: Mutex<BTreeMap<String, u64>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
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
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("{counts:#?}");
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert_wild(&counts, seeds);
}

/// A simulation in which nothing happens proves nothing.
fn assert_wild(counts: &BTreeMap<String, u64>, seeds: u64) {
    let wanted = [
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
    for what in wanted {
        let count = counts.get(what).copied().unwrap_or(0);
        assert!(count >= seeds / 100, "{what} happened {count} times only");
    }
}

#[test]
fn a_seed_decides_everything() {
    be_quiet();
    let simulation = Simulation::default();
    for seed in 0..60 {
        let [one, other] = [simulation.run(seed), simulation.run(seed)];
        assert_eq!(one.events, other.events, "seed {seed}");
        assert_eq!(one.story, other.story, "seed {seed}");
    }
}
