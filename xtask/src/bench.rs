//! `cargo xtask bench`: runs a benchmark and keeps what it measured.
//!
//! A number means little without the machine and the commit it belongs to, so
//! the saved page begins with both. A table that misses a goal is saved as well:
//! what was measured is what was measured.

use std::process::{Command, ExitCode};
use std::{fs, thread};

use crate::error::Error;
use crate::peers;
use crate::process::{self, Stream};
use crate::repo::Repo;

/// The programs in `bench/`. Each prints a Markdown table on stdout, and with
/// `--smoke` does as little as proves that it still works; `bench/tests` does that with all.
const BENCHMARKS: &[&str] = &[
    "acp", "agent", "events", "front", "llm", "log", "stdlib", "vm",
];

/// Those that measure the `harn` program itself, and look for it beside their own file.
const OF_THE_PROGRAM: &[&str] = &["acp", "stdlib", "vm"];

/// Those that measure themselves against programs that we install; see [`peers`].
const AGAINST_PEERS: &[&str] = &["acp", "agent", "llm"];

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    name: &'static str,
    /// Handed to the benchmark as they are.
    arguments: Vec<String>,
    save: bool,
}

/// Runs one benchmark and saves its table.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    let plan = plan(arguments)?;
    let Measured { table, failure } = measure(repo, plan.name, &plan.arguments)?;
    if plan.save && table.contains("| met |") {
        let file = format!("bench/results/{}.md", plan.name);
        let page = page(plan.name, &Circumstances::read(repo)?, &table);
        repo.write(&file, &page)?;
        eprintln!("saved {file}");
    }
    failure.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// For the usage page.
pub(crate) fn names() -> &'static [&'static str] {
    BENCHMARKS
}

fn plan(arguments: &[String]) -> Result<Plan, Error> {
    let choices = || format!("the benchmarks are {}", BENCHMARKS.join(", "));
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Error::usage(format!("which benchmark? {}", choices())));
    };
    let name = BENCHMARKS
        .iter()
        .find(|known| *known == name)
        .ok_or_else(|| Error::usage(format!("there is no benchmark `{name}`; {}", choices())))?;
    let is_ours = |argument: &String| argument == "--" || argument == "--no-save";
    let theirs: Vec<String> = rest.iter().filter(|one| !is_ours(one)).cloned().collect();
    let quick = theirs.iter().any(|one| one == "--smoke");
    let unwanted = rest.iter().any(|one| one == "--no-save");
    Ok(Plan {
        name,
        arguments: theirs,
        save: !quick && !unwanted,
    })
}

/// What came of a benchmark.
struct Measured {
    table: String,
    /// Why it is not good enough, or not there at all.
    failure: Option<Error>,
}

/// Runs the program, showing its table as it grows.
fn measure(repo: &Repo, name: &str, arguments: &[String]) -> Result<Measured, Error> {
    if OF_THE_PROGRAM.contains(&name) {
        build_program(repo)?;
    }
    if AGAINST_PEERS.contains(&name) {
        peers::ensure(repo)?;
    }
    let mut command = process::cargo(repo, &["run", "--release", "--locked"]);
    command.args(["-p", "harn-bench", "--bin", name, "--"]);
    command.args(arguments);
    table_of(command)
}

/// Runs a benchmark, showing its table as it grows.
fn table_of(command: Command) -> Result<Measured, Error> {
    let described = process::describe(&command);
    let mut table = String::new();
    let status = process::lines(command, Stream::Stdout, |line| {
        println!("{line}");
        table += line;
        table.push('\n');
    })?;
    let failed = Error::Failed {
        command: described,
        outcome: status.to_string(),
    };
    let failure = (!status.success()).then_some(failed);
    Ok(Measured { table, failure })
}

/// By itself, so that it has the features it is released with.
fn build_program(repo: &Repo) -> Result<(), Error> {
    let command = process::cargo(repo, &["build", "--release", "--locked", "-p", "harn-cli"]);
    let described = process::describe(&command);
    let status = process::live(command)?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: described,
        outcome: status.to_string(),
    })
}

/// What a reader must know to compare a result with their own.
struct Circumstances {
    machine: String,
    commit: String,
    /// Of the commit, so that measuring needs no clock.
    date: String,
}

impl Circumstances {
    fn read(repo: &Repo) -> Result<Self, Error> {
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.current_dir(repo.root()).args(arguments);
            process::capture(git).map(|text| text.trim().to_string())
        };
        // The results themselves are not what was measured.
        let changes = git(&["status", "--porcelain", "--", ".", ":!bench/results"])?;
        let mut commit = git(&["rev-parse", "--short", "HEAD"])?;
        if !changes.is_empty() {
            commit += "+changes";
        }
        Ok(Self {
            machine: machine(),
            commit,
            date: git(&["log", "-1", "--format=%cs"])?,
        })
    }
}

fn machine() -> String {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let cpu = cpu_model(&cpu_info).unwrap_or("unknown processor");
    format!("{cpu}, {cores} cores, Linux {}", kernel.trim())
}

fn cpu_model(cpu_info: &str) -> Option<&str> {
    let line = cpu_info.lines().find(|one| one.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

fn page(name: &str, circumstances: &Circumstances, table: &str) -> String {
    let Circumstances {
        machine,
        commit,
        date,
    } = circumstances;
    format!(
        "# Benchmark `{name}`\n\n\
         - Machine: {machine}\n\
         - Commit: `{commit}` of {date}\n\
         - Command: `cargo xtask bench {name}`\n\n\
         {}\n",
        table.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &[&str]) -> Result<Plan, Error> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        plan(&words)
    }

    #[track_caller]
    fn check(words: &[&str], arguments: &[&str], save: bool) {
        let plan = planned(words).unwrap();
        assert_eq!(plan.arguments, arguments);
        assert_eq!(plan.save, save);
    }

    #[test]
    fn a_result_is_saved_unless_it_is_a_smoke_test_or_unwanted() {
        check(&["events"], &[], true);
        check(&["events", "--", "--size", "9"], &["--size", "9"], true);
        check(&["events", "--", "--smoke"], &["--smoke"], false);
        check(&["events", "--no-save"], &[], false);
    }

    #[test]
    fn an_unknown_benchmark_is_a_usage_mistake() {
        let error = planned(&["evnts"]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the benchmarks are acp, agent, events")
        );
        assert!(matches!(planned(&[]), Err(Error::Usage(_))));
    }

    #[test]
    fn the_page_begins_with_machine_and_commit() {
        let circumstances = Circumstances {
            machine: "Abacus, 2 cores, Linux 6.1".to_string(),
            commit: "abc1234+changes".to_string(),
            date: "2026-01-31".to_string(),
        };
        let page = page("events", &circumstances, "| a |\n|---|\n");
        assert!(page.starts_with("# Benchmark `events`\n\n- Machine: Abacus, 2 cores, Linux 6.1\n- Commit: `abc1234+changes` of 2026-01-31\n"));
        assert!(page.ends_with("\n\n| a |\n|---|\n"));
    }

    #[test]
    fn the_processor_is_named_once() {
        let cpu_info =
            "processor\t: 0\nmodel name\t: Abacus 9\nprocessor\t: 1\nmodel name\t: Abacus 9\n";
        assert_eq!(cpu_model(cpu_info), Some("Abacus 9"));
    }
}
