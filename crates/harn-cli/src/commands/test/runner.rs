//! Runs tests on several threads and hands out what came of them in order.
//!
//! ```text
//!          ┌─ thread: workspace, one isolate after the other ─┐
//! next ────┼─ thread                                          ├──► results ──► in order
//!          └─ thread                                          ┘
//! ```
//!
//! An isolate stays on its thread, and every thread reads files for itself, so nothing is
//! shared but the number of the next test.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Builder};
use std::time::Duration;

use harn_check::modules::{Disk, Workspace};
use harn_vm::ModelOptions;
use harn_vm::policy::Policy;

use super::discovery::{Suite, Test, What};
use super::isolated::{self, Ran};

/// As much as the first thread of a process has: programs may be nested as deeply here.
const STACK_BYTES: usize = 8 << 20;

/// How tests are run.
pub(super) struct Settings {
    pub(super) jobs: NonZeroUsize,
    pub(super) timeout: Duration,
    pub(super) environment: BTreeMap<String, String>,
    /// Who answers when a test asks a model.
    pub(super) models: ModelOptions,
    /// What a test may do.
    pub(super) policy: Policy,
    /// Whether it is counted how often lines run.
    pub(super) counts_lines: bool,
}

/// Runs all tests. `done` is called once for each of them, in order.
///
/// # Errors
/// A thread cannot be started, or `done` has failed.
pub(super) fn run_all(
    suite: &Suite,
    settings: &Settings,
    done: impl FnMut(&Test, Ran) -> io::Result<()>,
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    let jobs = settings.jobs.get().min(suite.tests.len());
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (next, sender) = (&next, sender.clone());
            let work = move || work(suite, settings, next, &sender);
            let worker = Builder::new().stack_size(STACK_BYTES);
            worker.spawn_scoped(scope, work)?;
        }
        drop(sender);
        let told = in_order(&suite.tests, &results, done);
        // If telling has failed nobody wants to know about the others.
        next.store(suite.tests.len(), Ordering::Relaxed);
        told
    })
}

fn work(suite: &Suite, settings: &Settings, next: &AtomicUsize, results: &Sender<(usize, Ran)>) {
    let mut workspace = Workspace::new(Box::new(Disk));
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(test) = suite.tests.get(at) else {
            return;
        };
        let ran = match &test.what {
            What::Broken(why) => Ran {
                error: Some(why.clone()),
                output: String::new(),
                took: Duration::ZERO,
                counted: Vec::new(),
            },
            What::Pipeline(name) => {
                let path = &suite.files[test.file];
                isolated::run(&mut workspace, path, name, settings)
            }
        };
        if results.send((at, ran)).is_err() {
            return;
        }
    }
}

/// Hands out results in the order of the tests; those that are early wait.
fn in_order(
    tests: &[Test],
    results: &Receiver<(usize, Ran)>,
    mut done: impl FnMut(&Test, Ran) -> io::Result<()>,
) -> io::Result<()> {
    let mut early = BTreeMap::new();
    let mut told = 0;
    for (at, ran) in results {
        early.insert(at, ran);
        while let Some(ran) = early.remove(&told) {
            done(&tests[told], ran)?;
            told += 1;
        }
    }
    Ok(())
}
