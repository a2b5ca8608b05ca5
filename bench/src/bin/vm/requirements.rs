//! What the machine has to achieve, and whether it does.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::footprint;
use crate::language::{HARN, LUA, PYTHON};
use crate::options::Options;
use crate::race::{Race, Results};
use crate::report::{NOTHING, milliseconds};

const MEGABYTE: f64 = 1e6;

/// Idle fibers of which the cost is measured, and how many of them a smoke test makes.
const FIBERS: usize = 1_000_000;
const FIBERS_SMOKE: usize = 1_000;

/// The second table: a line per requirement.
#[derive(Debug, Default)]
pub(crate) struct Requirements {
    rows: String,
    missed: usize,
    /// Measurements that could not be made. Why was said on stderr.
    failed: usize,
}

impl Requirements {
    /// Judges the races, and measures what is not a race.
    pub(crate) fn measure(
        harn: &Path,
        results: &Results,
        startup: &Race,
        options: &Options,
    ) -> Self {
        let mut requirements = Self::default();
        requirements.speed(results);
        requirements.startup(startup);
        requirements.memory(harn, options);
        let size = footprint::stripped_size(harn).map(|bytes| bytes as f64 / MEGABYTE);
        requirements.at_most("the program, stripped", size, 36.0, "MB");
        if options.build {
            let minutes = footprint::build_from_clean().map(|time| time.as_secs_f64() / 60.0);
            requirements.at_most("`cargo build --release` from clean", minutes, 10.0, "min");
        }
        requirements
    }

    /// Whether every line says yes.
    pub(crate) fn all_met(&self) -> bool {
        self.missed == 0
    }

    /// Whether everything could be measured.
    pub(crate) fn all_measured(&self) -> bool {
        self.failed == 0
    }

    /// The table in Markdown.
    pub(crate) fn render(&self) -> String {
        format!(
            "| requirement | measured | asked | met |\n|---|---|---|---|\n{}",
            self.rows
        )
    }

    fn speed(&mut self, results: &Results) {
        let slower: Vec<&str> = results
            .races
            .iter()
            .filter(|race| race.ratio(PYTHON).is_none_or(|ratio| ratio >= 1.0))
            .map(|race| race.name)
            .collect();
        let measured = match slower.is_empty() {
            true => worst(results, PYTHON).describe(),
            false => format!("not {}", slower.join(", ")),
        };
        let asked = format!("each under 1 × the time of {PYTHON}");
        self.row(
            "every program faster than CPython",
            &measured,
            &asked,
            slower.is_empty(),
        );

        let mean = geometric_mean(results, LUA);
        self.at_most(
            "geometric mean against Lua (the goal is 1)",
            Ok(mean),
            1.2,
            "× its time",
        );
        let worst = worst(results, LUA);
        let is_met = worst.ratio <= 2.0;
        self.row(
            "no program far slower than Lua",
            &worst.describe(),
            "≤ 2 × its time",
            is_met,
        );
    }

    fn startup(&mut self, race: &Race) {
        let shown = |time: Option<Duration>| {
            time.map_or_else(|| NOTHING.to_string(), |time| milliseconds(time) + " ms")
        };
        let (ours, theirs) = (shown(race.time(HARN)), shown(race.time(LUA)));
        let ratio = race.ratio(LUA).unwrap_or(f64::INFINITY);
        let measured = format!("{ours} is {ratio:.2} × {theirs}");
        self.row(
            "start-up of `hello.harn` against an empty Lua file",
            &measured,
            "≤ 2.8 × its time",
            ratio <= 2.8,
        );
    }

    fn memory(&mut self, harn: &Path, options: &Options) {
        let hello = footprint::peak_resident(harn, "startup/hello.harn", None);
        let fibers = if options.smoke { FIBERS_SMOKE } else { FIBERS };
        let idle = footprint::peak_resident(harn, "memory/idle_fibers.harn", Some(fibers));
        let each = match (&hello, &idle) {
            (Ok(hello), Ok(idle)) => Ok((idle - hello) / fibers as f64),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        let megabytes = |bytes: Result<f64, String>| bytes.map(|bytes| bytes / MEGABYTE);
        self.at_most(
            "`hello.harn`: most memory resident",
            megabytes(hello),
            12.0,
            "MB",
        );
        self.at_most("an idle fiber, `hello.harn` subtracted", each, 1024.0, "B");
        let work = format!("{fibers} idle fibers: most memory resident");
        self.at_most(&work, megabytes(idle), 1500.0, "MB");
    }

    #[expect(clippy::print_stderr, reason = "the table has no room for reasons")]
    fn at_most(
        &mut self,
        requirement: &str,
        measured: Result<f64, String>,
        limit: f64,
        unit: &str,
    ) {
        let asked = format!("≤ {limit} {unit}");
        match measured {
            Ok(measured) => {
                let shown = format!("{measured:.2} {unit}");
                self.row(requirement, &shown, &asked, measured <= limit);
            }
            Err(why) => {
                eprintln!("{requirement}: {why}");
                self.failed += 1;
                self.row(requirement, "**failed**", &asked, false);
            }
        }
    }

    fn row(&mut self, requirement: &str, measured: &str, asked: &str, is_met: bool) {
        let verdict = if is_met { "yes" } else { "**no**" };
        self.missed += usize::from(!is_met);
        writeln!(
            self.rows,
            "| {requirement} | {measured} | {asked} | {verdict} |"
        )
        .expect("writing to a string cannot fail");
    }
}

/// The program in which a peer leaves us behind the furthest.
struct Worst {
    program: &'static str,
    ratio: f64,
}

impl Worst {
    fn describe(&self) -> String {
        format!("{:.2} × at worst, in {}", self.ratio, self.program)
    }
}

/// A program that failed is worse than any other.
fn worst(results: &Results, peer: &str) -> Worst {
    let mut worst = Worst {
        program: "none",
        ratio: 0.0,
    };
    for race in &results.races {
        let ratio = match race.ratio(peer) {
            Some(ratio) => ratio,
            None if race.time(HARN).is_none() => f64::INFINITY,
            None => continue,
        };
        if ratio > worst.ratio {
            worst = Worst {
                program: race.name,
                ratio,
            };
        }
    }
    worst
}

/// Over all programs in which both have a time.
fn geometric_mean(results: &Results, peer: &str) -> f64 {
    let ratios: Vec<f64> = results
        .races
        .iter()
        .filter_map(|race| race.ratio(peer))
        .collect();
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    match ratios.len() {
        0 => f64::INFINITY,
        count => (logarithms / count as f64).exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::Entry;

    /// Times of Harn, Lua and CPython in milliseconds; none is a failure of ours, or a peer
    /// that cannot do it.
    fn results(times: &[(&'static str, [Option<u64>; 3])]) -> Results {
        let entry = |time: Option<u64>, otherwise| {
            time.map_or(otherwise, |ms| Entry::Best(Duration::from_millis(ms)))
        };
        let mut results = Results::default();
        for (name, [harn, lua, python]) in times {
            results.add(Race::of(
                name,
                &[
                    (HARN, entry(*harn, Entry::Failed)),
                    (LUA, entry(*lua, Entry::Absent)),
                    (PYTHON, entry(*python, Entry::Absent)),
                ],
            ));
        }
        results
    }

    #[track_caller]
    fn check(results: &Results, expected: &[&str]) {
        let mut requirements = Requirements::default();
        requirements.speed(results);
        let rows: Vec<&str> = requirements.rows.lines().collect();
        assert_eq!(rows, expected);
        let missed = rows.iter().filter(|row| row.contains("**no**")).count();
        assert_eq!(requirements.missed, missed);
    }

    #[test]
    fn everything_met() {
        // The mean of 2 and 1/2 is 1; the program Lua cannot run does not count.
        let results = results(&[
            ("a", [Some(200), Some(100), Some(400)]),
            ("b", [Some(50), Some(100), Some(200)]),
            ("c", [Some(90), None, Some(100)]),
        ]);
        check(
            &results,
            &[
                "| every program faster than CPython | 0.90 × at worst, in c | each under 1 × the time of CPython | yes |",
                "| geometric mean against Lua (the goal is 1) | 1.00 × its time | ≤ 1.2 × its time | yes |",
                "| no program far slower than Lua | 2.00 × at worst, in a | ≤ 2 × its time | yes |",
            ],
        );
    }

    #[test]
    fn slow_programs_are_named() {
        let results = results(&[
            ("a", [Some(400), Some(100), Some(400)]),
            ("b", [Some(100), Some(100), Some(50)]),
        ]);
        check(
            &results,
            &[
                "| every program faster than CPython | not a, b | each under 1 × the time of CPython | **no** |",
                "| geometric mean against Lua (the goal is 1) | 2.00 × its time | ≤ 1.2 × its time | **no** |",
                "| no program far slower than Lua | 4.00 × at worst, in a | ≤ 2 × its time | **no** |",
            ],
        );
    }

    #[test]
    fn a_failure_is_not_faster_than_anything() {
        let results = results(&[("a", [None, Some(100), Some(400)])]);
        check(
            &results,
            &[
                "| every program faster than CPython | not a | each under 1 × the time of CPython | **no** |",
                "| geometric mean against Lua (the goal is 1) | inf × its time | ≤ 1.2 × its time | **no** |",
                "| no program far slower than Lua | inf × at worst, in a | ≤ 2 × its time | **no** |",
            ],
        );
    }
}
