//! Adds up what passed and what failed, and says so at the end.
//!
//! A step keeps a [`Tally`]; the [`Scoreboard`] keeps the tallies in the order
//! the steps ran. What went wrong is said once more there: of a long run a build
//! server may show only the end. The last line is read by programs, so its form
//! is fixed.

use std::fmt;
use std::time::Duration;

/// How much of a failure is said again.
const COMPLAINT_LINES_MAX: usize = 60;

/// How many checks of one step passed and failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// What is said at the end about those that failed.
    complaints: Vec<String>,
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
                let complaint = format!("{name}: {why}");
                println!("FAILED  {complaint}");
                self.add(Self::failure(1, &complaint));
            }
        }
    }

    /// So many checks that passed.
    pub(crate) fn success(passed: u64) -> Self {
        Self {
            passed,
            ..Self::default()
        }
    }

    /// So many checks that failed, and what there is to say about them.
    pub(crate) fn failure(failed: u64, complaint: &str) -> Self {
        Self {
            failed,
            complaints: vec![first_lines(complaint)],
            ..Self::default()
        }
    }

    /// Adds what somebody else has counted.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.complaints.extend(other.complaints);
    }
}

fn first_lines(text: &str) -> String {
    let mut lines = text.trim_end().lines();
    let mut first: Vec<&str> = lines.by_ref().take(COMPLAINT_LINES_MAX).collect();
    if lines.next().is_some() {
        first.push("… the rest is above");
    }
    first.join("\n")
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
            total.add(tally.clone());
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
        for complaint in &total.complaints {
            writeln!(out, "\nFAILED  {complaint}")?;
        }
        write!(out, "\n{} passed, {} failed", total.passed, total.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(tallies: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(passed, failed) in tallies {
            let mut tally = Tally::success(passed);
            if failed > 0 {
                tally.add(Tally::failure(failed, "it is not so"));
            }
            board.add("step", tally, Duration::from_millis(1500));
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
    fn failures_are_told_again_before_the_sum() {
        let mut tally = Tally::success(1);
        tally.check("one", Ok::<_, String>(()));
        tally.check("other", Err("it is not so"));
        let mut board = Scoreboard::default();
        board.add("step", tally, Duration::ZERO);
        let text = board.to_string();
        let end = "\nFAILED  other: it is not so\n\n2 passed, 1 failed";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn of_a_long_story_only_the_beginning_is_told_again() {
        let story = |lines| vec!["line"; lines].join("\n");
        assert_eq!(
            first_lines(&story(COMPLAINT_LINES_MAX)),
            story(COMPLAINT_LINES_MAX)
        );
        let cut = first_lines(&story(COMPLAINT_LINES_MAX + 1));
        assert_eq!(cut.lines().count(), COMPLAINT_LINES_MAX + 1);
        assert!(cut.ends_with("line\n… the rest is above"), "{cut}");
    }

    #[test]
    fn what_is_only_worth_a_row_when_it_fails_has_none_otherwise() {
        let mut board = Scoreboard::default();
        board.add_failures("fine", Tally::default(), Duration::ZERO);
        board.add_failures("wrong", Tally::failure(1, "why"), Duration::ZERO);
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
