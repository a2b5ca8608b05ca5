//! The crash campaign as a program.

#![expect(
    clippy::print_stdout,
    reason = "telling what happened is what this program is for"
)]

use std::process::ExitCode;
use std::time::Instant;

use harn_log::FileOptions;
use harn_sim::campaign::{
    Campaign, Report, SESSION_KILLS, Scenario, Telling, child, disk_scenarios, kill_scenarios,
    run_all, session_scenarios, sweep_scenarios,
};

const USAGE: &str = "\
Usage: harn-crash run [--scenarios N] [--seed S] [--part disk|files|kill|sessions|all]
       harn-crash replay SCENARIO...
       harn-crash child FOLDER NAME SEGMENT_BYTES   (what `run` kills)

Examples:
  harn-crash run --scenarios 100000
  harn-crash run --part sessions --seed 7
  harn-crash replay disk-17";

/// Outcomes of every fault in the sweep; half of them lose power.
const SWEEP_SEEDS: u64 = 4;
/// Real processes are slow, so there are fewer of them.
const KILLS_ONE_IN: u64 = 200;
/// Conversations are slower still: 250 of them kill 1250 processes.
const SESSIONS_ONE_IN: u64 = 400;
/// Failures after which a part stops.
const FAILURES_MAX: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["run", options @ ..] => run(options),
        ["child", folder, name, bytes] => run_child(folder, name, bytes),
        ["replay", names @ ..] if !names.is_empty() => replay(names),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &[&str]) -> Result<ExitCode, String> {
    let (mut count, mut seed, mut part) = (100_000, 1, "all");
    for pair in options.chunks(2) {
        let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
        match pair {
            ["--scenarios", value] => count = number(value)?,
            ["--seed", value] => seed = number(value)?,
            [
                "--part",
                value @ ("disk" | "files" | "kill" | "sessions" | "all"),
            ] => part = value,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let campaign = campaign()?;
    let mut failed = false;
    if matches!(part, "files" | "all") {
        let files = campaign
            .files_scenarios()
            .map_err(|violation| violation.0)?;
        failed |= tell(&campaign, "files", &files);
    }
    if matches!(part, "kill" | "all") {
        failed |= tell(
            &campaign,
            "kill",
            &kill_scenarios(seed, count / KILLS_ONE_IN),
        );
    }
    if matches!(part, "sessions" | "all") {
        let count = count / SESSIONS_ONE_IN;
        failed |= tell(&campaign, "sessions", &session_scenarios(seed, count));
        println!(
            "  {} processes of `harn` were killed",
            count * SESSION_KILLS
        );
    }
    if matches!(part, "disk" | "all") {
        failed |= tell(&campaign, "sweep", &sweep_scenarios(SWEEP_SEEDS));
        failed |= tell(&campaign, "disk", &disk_scenarios(seed, count));
    }
    Ok(match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn campaign() -> Result<Campaign, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // `cargo xtask crash` builds it into the same folder.
    let harn = program.with_file_name("harn");
    let campaign = Campaign::new(FileOptions::default());
    Ok(campaign.with_program(program).with_harn(harn))
}

fn run_child(folder: &str, name: &str, bytes: &str) -> Result<ExitCode, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    let ran = child(folder.into(), number(name)?, number(bytes)?);
    ran.map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs scenarios and tells about them; returns whether any failed.
fn tell(campaign: &Campaign, part: &str, scenarios: &[Scenario]) -> bool {
    let started = Instant::now();
    let report = run_all(campaign, scenarios, FAILURES_MAX);
    let Report {
        scenarios,
        distinct,
        failures,
    } = &report;
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "it is for people to read")]
    let rate = *scenarios as f64 / seconds;
    println!(
        "{part}: {scenarios} scenarios ({distinct} distinct) in {seconds:.1} s, {rate:.0}/s, \
         {} failed",
        failures.len()
    );
    for (scenario, violation) in failures {
        println!("  {scenario}: {}", violation.0);
        println!("    cargo xtask crash replay {scenario}");
    }
    !failures.is_empty()
}

fn replay(names: &[&str]) -> Result<ExitCode, String> {
    let campaign = campaign()?;
    let mut failed = false;
    for name in names {
        let scenario: Scenario = name.parse()?;
        let outcome = campaign.run(scenario, Telling::Everything);
        println!("{scenario}");
        for line in &outcome.story {
            println!("  {line}");
        }
        match &outcome.violation {
            None => println!("  all is well"),
            Some(violation) => println!("  FAILED: {}", violation.0),
        }
        failed |= outcome.violation.is_some();
    }
    Ok(match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}
