//! What all benchmarks share: interleaved rounds and one way to print them.
//!
//! Absolute times depend on the machine and the hour, ratios much less. Every
//! row therefore measures ours and a named peer in the same run, in turns, and
//! reports the median of each with its spread.

mod heap;
mod peak_heap;
pub mod process;
mod selection;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

pub use heap::CountingHeap;
pub use peak_heap::PeakHeap;
pub use selection::{Offered, Selection};

/// How much work to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Enough to trust the numbers.
    Full,
    /// Once through everything, to see that it still runs.
    Smoke,
}

impl Effort {
    /// From the command line: `--smoke` or nothing.
    pub fn from_args() -> Self {
        if std::env::args().any(|argument| argument == "--smoke") {
            Self::Smoke
        } else {
            Self::Full
        }
    }

    /// `full` operations, or a handful.
    pub fn operations(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Smoke => (full / 1000).max(10),
        }
    }

    fn rounds(self) -> usize {
        match self {
            Self::Full => 15,
            Self::Smoke => 1,
        }
    }
}

/// Whether a part of a benchmark is to be run: all are, unless some are named after
/// `--only`.
pub fn is_wanted(name: &str) -> bool {
    let mut named = std::env::args().skip_while(|argument| argument != "--only");
    match named.next() {
        Some(_) => named.any(|argument| argument == name),
        None => true,
    }
}

/// Times of one side, per operation.
#[derive(Clone, Debug)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Samples that somebody has taken, in nanoseconds per operation.
    pub fn of(nanoseconds: Vec<f64>) -> Self {
        Self(nanoseconds)
    }

    /// Median nanoseconds per operation.
    pub fn median_ns(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Half the distance between the quartiles, as a share of the median.
    pub fn spread(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let quartile = |part: usize| sorted[(sorted.len() - 1) * part / 4];
        (quartile(3) - quartile(1)) / 2.0 / self.median_ns()
    }
}

/// Runs both sides in turns. Each is told how many operations to do and may
/// return a smaller time than it took, to leave out its preparation.
pub fn versus(
    effort: Effort,
    operations: usize,
    mut ours: impl FnMut(usize) -> Duration,
    mut peer: impl FnMut(usize) -> Duration,
) -> (Samples, Samples) {
    let per_operation = |time: Duration| time.as_nanos() as f64 / operations as f64;
    let (mut our_times, mut peer_times) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds() {
        our_times.push(per_operation(ours(operations)));
        peer_times.push(per_operation(peer(operations)));
    }
    (Samples(our_times), Samples(peer_times))
}

/// Times `work`.
pub fn time(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// The table that is printed and kept in `bench/results/`.
#[derive(Debug, Default)]
pub struct Table {
    rows: String,
    all_met: bool,
    has_rows: bool,
}

/// What a ratio has to be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// Our speed is at least this share of the peer's.
    SpeedAtLeast(f64),
    /// Our time is at most this many times the peer's.
    TimeAtMost(f64),
    /// Nothing is asked; the speed is shown to be watched.
    Shown,
}

impl Table {
    /// A table without rows.
    pub fn new() -> Self {
        Self {
            rows: String::new(),
            all_met: true,
            has_rows: false,
        }
    }

    /// Adds a row of times.
    pub fn times(&mut self, work: &str, peer: &str, samples: &(Samples, Samples), goal: Goal) {
        let (ours, theirs) = (samples.0.median_ns(), samples.1.median_ns());
        let (ratio, asked, is_met) = match goal {
            Goal::SpeedAtLeast(share) => {
                let speed = theirs / ours;
                let percent = |share: f64| format!("{:.0} %", share * 100.0);
                (
                    format!("{} of its speed", percent(speed)),
                    format!("≥ {}", percent(share)),
                    speed >= share,
                )
            }
            Goal::Shown => {
                let percent = theirs / ours * 100.0;
                (format!("{percent:.0} % of its speed"), "–".to_owned(), true)
            }
            Goal::TimeAtMost(times) => {
                let time = ours / theirs;
                (
                    format!("{time:.2} × its time"),
                    format!("≤ {times:.2} ×"),
                    time <= times,
                )
            }
        };
        let side = |samples: &Samples| {
            format!(
                "{} ± {:.0} %",
                nanoseconds(samples.median_ns()),
                samples.spread() * 100.0
            )
        };
        self.row(
            work,
            peer,
            &side(&samples.0),
            &side(&samples.1),
            &ratio,
            &asked,
            is_met,
        );
    }

    /// Adds a row of anything else.
    #[expect(clippy::too_many_arguments, reason = "one argument per column")]
    pub fn row(
        &mut self,
        work: &str,
        peer: &str,
        ours: &str,
        theirs: &str,
        ratio: &str,
        asked: &str,
        is_met: bool,
    ) {
        let verdict = if is_met { "yes" } else { "**no**" };
        self.all_met &= is_met;
        self.has_rows = true;
        writeln!(
            self.rows,
            "| {work} | {peer} | {ours} | {theirs} | {ratio} | {asked} | {verdict} |"
        )
        .expect("writing to a string cannot fail");
    }

    /// Whether every goal was met.
    pub fn all_met(&self) -> bool {
        self.all_met && self.has_rows
    }

    /// The table in Markdown.
    pub fn render(&self) -> String {
        format!(
            "| work | against | ours | theirs | ratio | asked | met |\n\
             |---|---|---|---|---|---|---|\n{}",
            self.rows
        )
    }
}

fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}
