//! `cargo xtask fuzz`: libFuzzer on a stable toolchain.
//!
//! `cargo fuzz` needs nightly for the sanitizers. Safe Rust gets most of its
//! value from coverage alone, and the coverage pass is part of every rustc: we
//! switch it on by name and link libFuzzer as an ordinary library.
//!
//! ```text
//! fuzz/corpus/TARGET ──copy──► target/fuzz/corpus/TARGET ──► TARGET ──► verdict
//!    (committed seeds)            (grows while fuzzing)      ▲  │
//! conformance, recorded answers ─────────────────────────────┘  ▼
//!    (for targets that read such files)           target/fuzz/artifacts/crash-…
//! ```
//!
//! `cargo xtask test` does not explore. It tries inputs that follow from the committed seeds,
//! the same everywhere: what fails there fails for whoever looks into it.

mod seeds;
mod targets;
mod transcript;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Mutex, PoisonError};

use crate::at_once::at_once;
use crate::error::Error;
use crate::process::{self, Stream};
use crate::repo::Repo;
use crate::scoreboard::Tally;
use targets::{Target, targets};

/// The package of the targets, which is not a member of the workspace.
pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

/// Inputs per target when a person asks for fuzzing.
const RUNS_ON_REQUEST: u64 = 1_000_000;

/// What `cargo fuzz --sanitizer none` passes to rustc: count edges in eight-bit
/// counters, remember their addresses, and report the operands of comparisons so
/// that magic numbers are found. Debug assertions stay on, because a broken one
/// is a find.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing -Cdebug-assertions";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// `None` means all of them.
    target: Option<String>,
    runs: u64,
}

/// How one target is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Show everything, and keep the inputs found by earlier runs.
    Exploring,
    /// Say one line, and try inputs that follow from the committed seeds alone, so that a run
    /// can be repeated anywhere.
    Checking,
}

/// Fuzzes one target or all of them, with libFuzzer's output on the terminal.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    let plan = plan(arguments)?;
    let chosen = choose(targets(&repo.read(MANIFEST)?)?, plan.target.as_deref())?;
    // Not `--locked`: this is also how fuzz/Cargo.lock is brought up to date.
    let programs = build(repo, &[])?;
    let mut tally = Tally::default();
    for mut target in chosen {
        target.runs = plan.runs;
        let verdict = fuzz(repo, &programs, &target, Mode::Exploring)?;
        tally.check(&target.name, verdict.map(drop));
    }
    Ok(if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The step of `cargo xtask test`: each target for a short, fixed time.
pub(crate) fn check(repo: &Repo) -> Result<Tally, Error> {
    let targets = targets(&repo.read(MANIFEST)?)?;
    let programs = build(repo, &["--locked"])?;
    let tally = Mutex::new(Tally::default());
    at_once(&targets, |target| {
        let verdict = fuzz(repo, &programs, target, Mode::Checking);
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        match verdict {
            Ok(verdict) => tally.check(&target.name, verdict.map(drop)),
            Err(why) => tally.check(&target.name, Err(why)),
        }
    });
    Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn plan(arguments: &[String]) -> Result<Plan, Error> {
    let mut plan = Plan {
        target: None,
        runs: RUNS_ON_REQUEST,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--runs" {
            let number = rest.next().and_then(|number| number.parse().ok());
            plan.runs = number.ok_or_else(|| Error::usage("`--runs` wants a number"))?;
        } else if argument.starts_with('-') {
            return Err(Error::usage(format!("`fuzz` has no option `{argument}`")));
        } else if plan.target.is_some() {
            return Err(Error::usage("`fuzz` takes one target, or none for all"));
        } else {
            plan.target = Some(argument.clone());
        }
    }
    Ok(plan)
}

fn choose(mut targets: Vec<Target>, wanted: Option<&str>) -> Result<Vec<Target>, Error> {
    let Some(wanted) = wanted else {
        return Ok(targets);
    };
    if let Some(at) = targets.iter().position(|target| target.name == wanted) {
        return Ok(vec![targets.swap_remove(at)]);
    }
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    Err(Error::usage(format!(
        "there is no fuzz target `{wanted}`; the targets are {}",
        names.join(", ")
    )))
}

/// Builds all targets and returns the folder they are in. Naming the target
/// triple keeps build scripts and macros free of instrumentation.
fn build(repo: &Repo, options: &[&str]) -> Result<PathBuf, Error> {
    let triple = host_triple()?;
    let target_dir = repo.target_dir().join("fuzz");
    let mut cargo = process::cargo(repo, &["build", "--release", "--manifest-path", MANIFEST]);
    cargo.args(["--target", &triple]).args(options);
    cargo.arg("--target-dir").arg(&target_dir);
    cargo.env("RUSTFLAGS", RUSTFLAGS);
    // It would win over RUSTFLAGS and silently switch the coverage off.
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
    let described = process::describe(&cargo);
    let status = process::live(cargo)?;
    if status.success() {
        return Ok(target_dir.join(triple).join("release"));
    }
    Err(Error::Failed {
        command: described,
        outcome: format!(
            "{status} (if fuzz/Cargo.lock is out of date, `cargo xtask fuzz` renews it)"
        ),
    })
}

fn host_triple() -> Result<String, Error> {
    let mut rustc = Command::new("rustc");
    rustc.arg("-vV");
    let answer = process::capture(rustc)?;
    let triple = answer.lines().find_map(|line| line.strip_prefix("host: "));
    triple
        .map(ToString::to_string)
        .ok_or_else(|| Error::malformed("the output of `rustc -vV`", "it names no host"))
}

/// Runs one target. The inner result is libFuzzer's last line or the complaint.
fn fuzz(
    repo: &Repo,
    programs: &Path,
    target: &Target,
    mode: Mode,
) -> Result<Result<String, transcript::Trouble>, Error> {
    let home = repo.target_dir().join("fuzz");
    let artifacts = home.join("artifacts");
    fs::create_dir_all(&artifacts).map_err(Error::file(&artifacts))?;

    let mut command = Command::new(programs.join(&target.name));
    command.current_dir(repo.root());
    command.args(["-seed=1", "-max_len=16384", "-timeout=10"]);
    command.arg("-rss_limit_mb=2048");
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    match mode {
        Mode::Exploring => explore(&mut command, repo, &home, target)?,
        Mode::Checking => repeat(&mut command, repo, &home, target)?,
    }
    let mut lines = Vec::new();
    let status = process::lines(command, Stream::Stderr, |line| {
        if mode == Mode::Exploring {
            eprintln!("{line}");
        }
        lines.push(line.to_string());
    })?;
    let verdict = transcript::judge(status.success(), &lines);
    if mode == Mode::Checking && verdict.is_err() {
        eprintln!("{}", lines.join("\n"));
    }
    Ok(verdict)
}

/// Goes on from whatever reaches something new, also from what earlier runs have found.
fn explore(command: &mut Command, repo: &Repo, home: &Path, target: &Target) -> Result<(), Error> {
    command.arg(format!("-runs={}", target.runs));
    command.arg(seeds::plant(repo, home, target)?);
    command.args(&target.seeds);
    Ok(())
}

/// Goes on from the committed seeds only, all of them alike and in a fixed order, and learns
/// nothing from what they reach or compare: that is another thing on every machine and in every
/// run. See `fuzz/src/repeat.rs`.
fn repeat(command: &mut Command, repo: &Repo, home: &Path, target: &Target) -> Result<(), Error> {
    let (list, count) = seeds::list(repo, home, target)?;
    // Runs are those after the seeds, however many of these there are.
    command.arg(format!("-runs={}", target.runs + count as u64));
    command.arg(format!("-seed_inputs=@{}", list.display()));
    command.arg(format!("--seeds={count}"));
    command.args(["-shuffle=0", "-entropic=0", "-use_cmp=0", "-reload=0"]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &[&str]) -> Result<Plan, Error> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        plan(&words)
    }

    #[test]
    fn a_plan_names_a_target_and_a_number_of_runs_in_any_order() {
        let expected = Plan {
            target: Some("decode_event".to_string()),
            runs: 7,
        };
        assert_eq!(planned(&["decode_event", "--runs", "7"]).unwrap(), expected);
        assert_eq!(planned(&["--runs", "7", "decode_event"]).unwrap(), expected);
        assert_eq!(planned(&[]).unwrap().runs, RUNS_ON_REQUEST);
    }

    #[test]
    fn a_plan_that_makes_no_sense_is_a_usage_mistake() {
        for words in [
            &["--runs"] as &[&str],
            &["--runs", "many"],
            &["a", "b"],
            &["--fast"],
        ] {
            assert!(matches!(planned(words), Err(Error::Usage(_))), "{words:?}");
        }
    }

    #[test]
    fn one_target_or_all_are_chosen() {
        let chosen = |wanted| {
            let targets = ["one", "two"].map(|name| Target {
                name: name.to_string(),
                runs: 1,
                seeds: None,
            });
            let chosen = choose(targets.into(), wanted)?;
            let names = chosen.into_iter().map(|target| target.name);
            Ok::<_, Error>(names.collect::<Vec<_>>())
        };
        assert_eq!(chosen(Some("two")).unwrap(), ["two"]);
        assert_eq!(chosen(None).unwrap(), ["one", "two"]);
        assert!(matches!(chosen(Some("tow")), Err(Error::Usage(_))));
    }
}
