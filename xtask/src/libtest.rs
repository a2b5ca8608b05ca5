//! Builds the test programs, runs them and understands what they say.
//!
//! Cargo runs one program after the other, and many tests wait for other programs more than
//! they work; so we run as many programs at once as there are cores. Exit codes alone cannot
//! tell us how many tests ran, and a run in which half the tests are skipped looks healthy; so
//! we read the summary line that each program prints.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::at_once::at_once;
use crate::error::Error;
use crate::process::{self, Stream};
use crate::repo::Repo;
use crate::scoreboard::Tally;

/// What one test program said in its last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Summary {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Summary {
    /// Adds a line of a test program, if it is such a summary.
    fn note(&mut self, line: &str) {
        if let Some(other) = parse(line) {
            self.passed += other.passed;
            self.failed += other.failed;
            self.ignored += other.ignored;
        }
    }
}

/// Runs all tests but those in comments.
pub(crate) fn run(repo: &Repo) -> Result<Tally, Error> {
    let total = Mutex::new(Tally::default());
    at_once(build(repo)?, |program| {
        let (text, tally) = program.run();
        // Held while it is printed, so that nobody else prints in between.
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        println!("{text}");
        total.add(tally);
    });
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs the tests in comments, which cargo does on its own.
pub(crate) fn run_doc(repo: &Repo) -> Result<Tally, Error> {
    let command = process::cargo(repo, &["test", "--workspace", "--locked", "--doc"]);
    let mut sum = Summary::default();
    let mut shown = String::new();
    let status = process::lines(command, Stream::Stdout, |line| {
        println!("{line}");
        sum.note(line);
        shown += &format!("{line}\n");
    })?;
    Ok(judge("tests in comments", sum, status.success(), &shown))
}

/// A program full of tests.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    /// The target of cargo that it is built from.
    name: String,
    file: PathBuf,
    /// The folder of its package, where cargo would run it.
    folder: PathBuf,
}

/// Builds all test programs. Large ones come first, because they have the most tests, and the
/// last to begin should be done soon.
fn build(repo: &Repo) -> Result<Vec<Program>, Error> {
    let mut command = process::cargo(repo, &["test", "--workspace", "--locked", "--no-run"]);
    command.args(["--lib", "--bins", "--tests", "--examples"]);
    command.arg("--message-format=json-render-diagnostics");
    let described = process::describe(&command);
    let mut programs = Vec::new();
    let status = process::lines(command, Stream::Stdout, |line| {
        programs.extend(built(line));
    })?;
    if !status.success() {
        return Err(Error::Failed {
            command: described,
            outcome: status.to_string(),
        });
    }
    let size = |program: &Program| fs::metadata(&program.file).map_or(0, |file| file.len());
    programs.sort_by_cached_key(|program| std::cmp::Reverse(size(program)));
    Ok(programs)
}

/// What cargo says about something it has built, as far as it matters here.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The test program that a line of cargo's tells of.
fn built(line: &str) -> Option<Program> {
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let file = artifact.executable.filter(|_| artifact.profile.test)?;
    Some(Program {
        name: artifact.target.name,
        file,
        folder: artifact.manifest_path.parent()?.to_path_buf(),
    })
}

impl Program {
    /// Everything it printed, and what that amounts to.
    fn run(&self) -> (String, Tally) {
        let mut command = Command::new(&self.file);
        command.current_dir(&self.folder).stdin(Stdio::null());
        let folder = self.folder.file_name().unwrap_or_default();
        let title = format!("{}: {}", folder.display(), self.name);
        let output = match command.output() {
            Ok(output) => output,
            Err(why) => {
                let said = format!("{title}: {why}");
                let tally = judge(&title, Summary::default(), false, &said);
                return (said, tally);
            }
        };
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut sum = Summary::default();
        said.lines().for_each(|line| sum.note(line));
        said += &String::from_utf8_lossy(&output.stderr);
        let tally = judge(&title, sum, output.status.success(), &said);
        (format!("── {title} ──\n{said}"), tally)
    }
}

/// An ignored test is a failure: one that cannot pass yet asserts today's behaviour instead.
/// So is a program that broke before any test could fail.
fn judge(title: &str, sum: Summary, success: bool, said: &str) -> Tally {
    let mut failed = sum.failed + sum.ignored;
    if !success && failed == 0 {
        failed = 1;
    }
    let mut tally = Tally::success(sum.passed);
    if failed > 0 {
        let complaint = format!("{title}\n{}", failures(said));
        tally.add(Tally::failure(failed, &complaint));
    }
    tally
}

/// What a test program says about the tests that failed or were ignored; everything it said
/// if it broke before.
fn failures(said: &str) -> String {
    let told = said.split_once("\nfailures:\n").map(|(_, told)| told);
    let ignored = said.lines().filter(|line| line.ends_with("... ignored"));
    match told {
        Some(told) => told.trim_start().to_owned(),
        None => match ignored.collect::<Vec<_>>() {
            ignored if ignored.is_empty() => said.to_owned(),
            ignored => ignored.join("\n"),
        },
    }
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn parse(line: &str) -> Option<Summary> {
    let counts = line.strip_prefix("test result: ")?;
    let (_verdict, counts) = counts.split_once(". ")?;
    let mut summary = Summary::default();
    for count in counts.split("; ") {
        let (number, what) = count.split_once(' ')?;
        match what {
            "passed" => summary.passed = number.parse().ok()?,
            "failed" => summary.failed = number.parse().ok()?,
            "ignored" => summary.ignored = number.parse().ok()?,
            // "measured", "filtered out" and the time it took.
            _ => {}
        }
    }
    Some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: &str = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s";
    const BAD: &str = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 1.10s";

    fn summary(passed: u64, failed: u64, ignored: u64) -> Summary {
        Summary {
            passed,
            failed,
            ignored,
        }
    }

    #[test]
    fn summaries_are_read_whatever_the_verdict() {
        assert_eq!(parse(FINE), Some(summary(12, 0, 0)));
        assert_eq!(parse(BAD), Some(summary(3, 2, 1)));
    }

    #[test]
    fn other_lines_are_not_summaries() {
        assert_eq!(parse("test codec::tests::round_trip ... ok"), None);
        assert_eq!(parse("running 12 tests"), None);
    }

    #[test]
    fn test_programs_are_told_from_everything_else_that_is_built() {
        let line = |test, file| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/r/a/Cargo.toml",
                    "target":{{"name":"t"}},"profile":{{"test":{test}}},"executable":{file}}}"#
            )
        };
        let expected = Program {
            name: "t".to_string(),
            file: PathBuf::from("/r/target/t-1"),
            folder: PathBuf::from("/r/a"),
        };
        assert_eq!(built(&line(true, r#""/r/target/t-1""#)), Some(expected));
        assert_eq!(built(&line(false, r#""/r/target/t-1""#)), None);
        assert_eq!(built(&line(true, "null")), None);
        assert_eq!(built(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn a_program_that_cannot_be_started_is_a_failure() {
        let program = Program {
            name: "t".to_string(),
            file: PathBuf::from("no-such-program-here"),
            folder: PathBuf::from("."),
        };
        assert_eq!(program.run().1.failed, 1);
    }

    #[test]
    fn an_ignored_test_is_a_failure() {
        let said = "running 2 tests\ntest a ... ok\ntest b ... ignored\n";
        let expected = Tally::failure(2, "t\ntest b ... ignored");
        assert_eq!(judge("t", summary(0, 0, 2), true, said), expected);
    }

    #[test]
    fn a_program_that_crashes_is_one_failure_and_all_it_said_is_told() {
        let expected = Tally::failure(1, "t\nrunning 2 tests\nout of memory");
        let said = "running 2 tests\nout of memory\n";
        assert_eq!(judge("t", summary(0, 0, 0), false, said), expected);
    }

    #[test]
    fn a_failed_test_is_counted_once_and_told_without_those_that_passed() {
        let said = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n\
                    ---- b stdout ----\nwrong\n\nfailures:\n    b\n";
        let mut expected = Tally::success(5);
        expected.add(Tally::failure(
            1,
            "t\n---- b stdout ----\nwrong\n\nfailures:\n    b",
        ));
        assert_eq!(judge("t", summary(5, 1, 0), false, said), expected);
    }
}
