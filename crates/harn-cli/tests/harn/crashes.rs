//! The short part of the crash campaign against `harn` itself; `cargo xtask crash run --part
//! sessions` runs all of it.

use std::path::PathBuf;

use harn_log::FileOptions;
use harn_sim::campaign::{Campaign, SESSION_KILLS, run_all, session_scenarios};

/// Conversations whose processes are killed again and again.
const CONVERSATIONS: u64 = 24;

/// Failures after which nobody needs more.
const FAILURES_MAX: usize = 3;

#[test]
fn a_session_survives_processes_that_are_killed_at_any_moment() {
    const { assert!(CONVERSATIONS * SESSION_KILLS >= 50) };
    let harn = PathBuf::from(env!("CARGO_BIN_EXE_harn"));
    let campaign = Campaign::new(FileOptions::default()).with_harn(harn);
    let scenarios = session_scenarios(1_000_000, CONVERSATIONS);
    let report = run_all(&campaign, &scenarios, FAILURES_MAX);
    let complaints: String = report
        .failures
        .iter()
        .map(|(scenario, violation)| {
            let problem = &violation.0;
            format!("{scenario}: {problem}\n  cargo xtask crash replay {scenario}\n")
        })
        .collect();
    assert!(complaints.is_empty(), "{complaints}");
    assert_eq!(report.scenarios, CONVERSATIONS);
}
