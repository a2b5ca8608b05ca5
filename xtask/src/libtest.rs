//! Runs `cargo test` and understands what it says.
//!
//! Cargo's exit code alone cannot tell us how many tests ran, and a run in
//! which half the tests are skipped looks healthy to it. So we read the summary
//! line each test program prints, while the output passes by on the terminal.

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

/// Runs `cargo test` with these arguments and counts.
pub(crate) fn run(repo: &Repo, arguments: &[&str]) -> Result<Tally, Error> {
    let mut command = vec!["test", "--workspace", "--no-fail-fast", "--locked"];
    command.extend(arguments);
    let mut sum = Summary::default();
    let status = process::lines(process::cargo(repo, &command), Stream::Stdout, |line| {
        println!("{line}");
        if let Some(summary) = parse(line) {
            sum.passed += summary.passed;
            sum.failed += summary.failed;
            sum.ignored += summary.ignored;
        }
    })?;
    if sum.ignored > 0 {
        println!(
            "{} ignored: a test that cannot pass yet asserts today's behaviour instead",
            sum.ignored
        );
    }
    Ok(judge(sum, status.success()))
}

/// An ignored test is a failure, and so is a run that broke before any test
/// could fail: code that does not compile, or a program that crashed.
fn judge(sum: Summary, success: bool) -> Tally {
    let mut failed = sum.failed + sum.ignored;
    if !success && failed == 0 {
        failed = 1;
    }
    Tally {
        passed: sum.passed,
        failed,
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
    fn an_ignored_test_is_a_failure() {
        assert_eq!(judge(summary(5, 0, 2), true).failed, 2);
    }

    #[test]
    fn code_that_does_not_compile_is_one_failure() {
        assert_eq!(judge(summary(0, 0, 0), false).failed, 1);
    }

    #[test]
    fn a_failed_test_is_counted_once() {
        assert_eq!(judge(summary(5, 1, 0), false).failed, 1);
    }
}
