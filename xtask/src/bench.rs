//! `cargo xtask bench`: runs a benchmark and keeps what it measured.
//!
//! A number means little without the machine and the commit it belongs to, so
//! the saved page begins with both. A table that misses a goal is saved as well:
//! what was measured is what was measured. With `--check` a page is replaced only by
//! one that is as good: what got worse stays visible until it is mended, or recorded
//! on purpose without `--check`.

mod comparison;
mod table;

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

/// Stands for all of them, one after the other.
const ALL: &str = "all";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    names: Vec<&'static str>,
    /// Handed to the benchmarks as they are.
    arguments: Vec<String>,
    save: bool,
    /// Whether the tables are compared with the recorded ones.
    check: bool,
}

/// Runs benchmarks and saves their tables.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    let plan = plan(arguments)?;
    let mut failures = Vec::new();
    let mut findings = Vec::new();
    for name in &plan.names {
        if plan.names.len() > 1 {
            println!("\n# {name}\n");
        }
        let Measured { table, failure } = measure(repo, name, &plan.arguments)?;
        failures.extend(failure);
        let found = match plan.check {
            true => compared(repo, name, &table),
            false => Vec::new(),
        };
        if plan.save && found.is_empty() && table.contains("| met |") {
            let file = result_file(name);
            let page = page(name, &Circumstances::read(repo)?, &table);
            repo.write(&file, &page)?;
            eprintln!("saved {file}");
        }
        findings.extend(found);
    }
    if plan.check {
        println!("\n{}", summary(&findings));
    }
    match failures.into_iter().next() {
        Some(failure) => Err(failure),
        None if findings.is_empty() => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}

fn result_file(name: &str) -> String {
    format!("bench/results/{name}.md")
}

/// What is not as good as the recorded result of a benchmark, a line each.
fn compared(repo: &Repo, name: &str, table: &str) -> Vec<String> {
    let recorded = fs::read_to_string(repo.root().join(result_file(name))).ok();
    let findings = comparison::compare(recorded.as_deref(), table);
    let lines = findings.iter().map(|finding| format!("{name}: {finding}"));
    lines.collect()
}

fn summary(findings: &[String]) -> String {
    match findings {
        [] => "every goal is met, and nothing is worse than it was recorded".to_owned(),
        _ => findings.join("\n"),
    }
}

/// For the usage page.
pub(crate) fn names() -> &'static [&'static str] {
    BENCHMARKS
}

fn plan(arguments: &[String]) -> Result<Plan, Error> {
    let choices = || format!("the benchmarks are {}, or {ALL}", BENCHMARKS.join(", "));
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Error::usage(format!("which benchmark? {}", choices())));
    };
    let known = BENCHMARKS.iter().copied();
    let names: Vec<&str> = known.filter(|known| known == name || name == ALL).collect();
    if names.is_empty() {
        let problem = format!("there is no benchmark `{name}`; {}", choices());
        return Err(Error::usage(problem));
    }
    let is_asked = |option: &str| rest.iter().any(|argument| argument == option);
    let is_ours = |argument: &String| ["--", "--no-save", "--check"].contains(&argument.as_str());
    Ok(Plan {
        names,
        arguments: rest.iter().filter(|one| !is_ours(one)).cloned().collect(),
        save: !is_asked("--smoke") && !is_asked("--no-save"),
        check: is_asked("--check"),
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
        check(&["events", "--check"], &[], true);
    }

    #[test]
    fn all_of_them_are_run_and_compared_on_demand() {
        let plan = planned(&["all", "--check"]).unwrap();
        assert_eq!(plan.names, BENCHMARKS);
        assert!(plan.check);
        let plan = planned(&["vm"]).unwrap();
        assert_eq!(plan.names, ["vm"]);
        assert!(!plan.check);
    }

    /// A page that cannot be read would make every comparison succeed.
    #[test]
    fn every_recorded_page_has_rows_with_numbers() {
        let repo = Repo::find().unwrap();
        for name in BENCHMARKS {
            let page = fs::read_to_string(repo.root().join(result_file(name))).unwrap();
            let rows = table::measurements(&page);
            let with_value = rows.iter().filter(|row| row.value.is_some());
            assert!(with_value.count() >= 3, "{name}: {rows:?}");
            assert_eq!(
                comparison::compare(Some(&page), &page)
                    .iter()
                    .filter(|finding| !matches!(finding, comparison::Finding::Missed { .. }))
                    .count(),
                0
            );
        }
    }

    #[test]
    fn an_unknown_benchmark_is_a_usage_mistake() {
        let error = planned(&["evnts"]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the benchmarks are acp, agent, events")
        );
        assert!(error.to_string().ends_with("vm, or all"));
        assert!(matches!(planned(&[]), Err(Error::Usage(_))));
    }

    #[test]
    fn contributors_are_told_of_every_benchmark() {
        let page = Repo::find().unwrap().read("CONTRIBUTING.md").unwrap();
        for name in BENCHMARKS {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
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
