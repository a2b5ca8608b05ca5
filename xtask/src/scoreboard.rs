//! Adds up what passed and what failed, and says so at the end.
//!
//! A step keeps a [`Tally`]; the [`Scoreboard`] keeps the tallies in the order
//! the steps ran. The last line is read by programs, so its form is fixed.

use std::fmt;
use std::time::Duration;

/// How many checks of one step passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Counts one check, and tells the person at the terminal how it went.
    pub(crate) fn check<E: fmt::Display>(&mut self, name: &str, outcome: Result<(), E>) {
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("ok      {name}");
            }
            Err(why) => {
                self.failed += 1;
                println!("FAILED  {name}: {why}");
            }
        }
    }
}

/// All tallies of one run.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    rows: Vec<(&'static str, Tally, Duration)>,
}

impl Scoreboard {
    pub(crate) fn add(&mut self, step: &'static str, tally: Tally, took: Duration) {
        self.rows.push((step, tally, took));
    }

    /// A row for what is worth one only if it went wrong.
    pub(crate) fn add_failures(&mut self, step: &'static str, tally: Tally, took: Duration) {
        if tally.failed > 0 {
            self.add(step, tally, took);
        }
    }

    pub(crate) fn total(&self) -> Tally {
        let mut total = Tally::default();
        for (_, tally, _) in &self.rows {
            total.passed += tally.passed;
            total.failed += tally.failed;
        }
        total
    }

    /// A run that checked nothing has not succeeded: a typo in a filter or an
    /// empty workspace must not look like health.
    pub(crate) fn succeeded(&self) -> bool {
        let total = self.total();
        total.failed == 0 && total.passed > 0
    }
}

impl fmt::Display for Scoreboard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<8} {:>7} {:>7} {:>8}",
            "step", "passed", "failed", "seconds"
        )?;
        for (step, tally, took) in &self.rows {
            let seconds = took.as_secs_f64();
            writeln!(
                out,
                "{step:<8} {:>7} {:>7} {seconds:>8.1}",
                tally.passed, tally.failed
            )?;
        }
        let total = self.total();
        write!(out, "\n{} passed, {} failed", total.passed, total.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(tallies: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(passed, failed) in tallies {
            board.add(
                "step",
                Tally { passed, failed },
                Duration::from_millis(1500),
            );
        }
        board
    }

    #[test]
    fn the_last_line_is_the_sum_alone() {
        let text = board(&[(3, 0), (4, 1)]).to_string();
        assert_eq!(text.lines().last(), Some("7 passed, 1 failed"));
    }

    #[test]
    fn a_row_shows_counts_and_seconds() {
        let text = board(&[(3, 0)]).to_string();
        assert!(text.contains("step           3       0      1.5"), "{text}");
    }

    #[test]
    fn what_is_only_worth_a_row_when_it_fails_has_none_otherwise() {
        let mut board = Scoreboard::default();
        let tally = |failed| Tally { passed: 0, failed };
        board.add_failures("fine", tally(0), Duration::ZERO);
        board.add_failures("wrong", tally(1), Duration::ZERO);
        let text = board.to_string();
        assert!(!text.contains("fine") && text.contains("wrong"), "{text}");
    }

    #[test]
    fn one_failure_or_no_check_at_all_is_not_success() {
        assert!(board(&[(1, 0)]).succeeded());
        assert!(!board(&[(1, 0), (0, 1)]).succeeded());
        assert!(!board(&[]).succeeded());
    }
}
