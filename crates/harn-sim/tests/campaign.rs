//! The short part of the crash campaign; `cargo xtask crash` runs all of it.

use std::path::PathBuf;

use harn_log::{FileOptions, Sabotage};
use harn_sim::campaign::{
    Campaign, Report, Scenario, Telling, disk_scenarios, kill_scenarios, run_all, sweep_scenarios,
};

/// Failures after which nobody needs more.
const FAILURES_MAX: usize = 5;

fn campaign() -> Campaign {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_harn-crash"));
    Campaign::new(FileOptions::default()).with_program(program)
}

/// Some of many scenarios, from all over them.
fn every(step: usize, scenarios: Vec<Scenario>) -> Vec<Scenario> {
    scenarios.into_iter().step_by(step).collect()
}

#[track_caller]
fn check(scenarios: &[Scenario]) -> Report {
    let report = run_all(&campaign(), scenarios, FAILURES_MAX);
    let complaint = |(scenario, violation): &(Scenario, harn_sim::campaign::Violation)| {
        let problem = &violation.0;
        format!("{scenario}: {problem}\n  cargo xtask crash replay {scenario}\n")
    };
    let complaints: String = report.failures.iter().map(complaint).collect();
    assert!(complaints.is_empty(), "{complaints}");
    assert_eq!(report.scenarios, scenarios.len() as u64);
    report
}

#[test]
fn a_log_keeps_its_promises_on_a_disk_that_breaks() {
    let report = check(&disk_scenarios(1_000_000, 1_500));
    assert!(
        report.distinct > 1_400,
        "seeds should not repeat each other"
    );
}

#[test]
fn a_log_keeps_its_promises_whichever_operation_fails() {
    check(&every(13, sweep_scenarios(4)));
}

#[test]
fn damage_to_any_byte_is_reported_and_never_read() {
    let scenarios = campaign().files_scenarios();
    let scenarios = scenarios.expect("an undamaged log works");
    check(&every(17, scenarios));
}

#[test]
fn what_was_acknowledged_survives_a_killed_process() {
    check(&kill_scenarios(1_000_000, 5));
}

#[test]
fn a_scenario_does_the_same_again() {
    for scenario in disk_scenarios(0, 20) {
        let [first, second] = [(), ()].map(|()| campaign().run(scenario, Telling::Everything));
        assert_eq!(first.story, second.story, "{scenario}");
        assert_eq!(first.trace, second.trace, "{scenario}");
    }
}

/// The campaign notices that one of the promises is broken, in scenarios in which all
/// is well otherwise.
#[track_caller]
fn check_sabotage(sabotage: Sabotage) {
    let options = FileOptions {
        sabotage: Some(sabotage),
        ..FileOptions::default()
    };
    let report = run_all(&Campaign::new(options), &disk_scenarios(0, 600), 1);
    assert!(!report.failures.is_empty(), "nobody noticed {sabotage:?}");
    let noticed = report.failures.iter().map(|(scenario, _)| *scenario);
    check(&noticed.collect::<Vec<_>>());
}

#[test]
fn a_skipped_sync_is_noticed() {
    check_sabotage(Sabotage::SkipSync);
}

#[test]
fn an_id_that_is_given_before_the_record_is_written_is_noticed() {
    check_sabotage(Sabotage::IndexBeforeWrite);
}

#[test]
fn a_torn_tail_that_is_kept_is_noticed() {
    check_sabotage(Sabotage::KeepTornTail);
}

#[test]
fn an_acknowledgement_that_goes_back_is_noticed() {
    check_sabotage(Sabotage::AckBackwards);
}

#[test]
fn a_batch_out_of_order_is_noticed() {
    check_sabotage(Sabotage::BatchOutOfOrder);
}
