//! One row in every language, in turns.

use harn_bench::{Selection, process};

use crate::language::{HARN, Language, NODE, PYTHON};
use crate::material::Material;
use crate::rows::Row;

/// What Harn says of a builtin that nobody has written yet.
const NOT_THERE: &str = "is specified and not built";

/// What a language did with a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// Its best time, in milliseconds.
    Best(f64),
    /// A builtin is missing.
    NotMeasured,
    /// It failed, or answered something else than the others. Why was said on stderr.
    Failed,
}

/// A row in all languages.
#[derive(Debug)]
pub(crate) struct Race {
    pub(crate) about: &'static str,
    entries: Vec<(&'static str, Entry)>,
}

impl Race {
    /// Runs every language once, then again, so that a bad moment of the machine meets all.
    pub(crate) fn run(
        languages: &[Language],
        row: &Row,
        material: &Material,
        options: &Selection,
    ) -> Self {
        let mut lanes: Vec<Lane<'_>> = languages.iter().map(Lane::new).collect();
        for _ in 0..options.runs {
            for lane in &mut lanes {
                lane.run_once(row, material, options.smoke);
            }
        }
        compare(row, &mut lanes);
        let entries = lanes
            .into_iter()
            .map(|lane| (lane.language.name, lane.entry));
        Self {
            about: row.about,
            entries: entries.collect(),
        }
    }

    pub(crate) fn entry(&self, language: &str) -> &Entry {
        let mut entries = self.entries.iter();
        let found = entries.find(|(name, _)| *name == language);
        found.map_or(&Entry::Failed, |(_, entry)| entry)
    }

    fn time(&self, language: &str) -> Option<f64> {
        match self.entry(language) {
            Entry::Best(time) => Some(*time),
            Entry::NotMeasured | Entry::Failed => None,
        }
    }

    /// Our time as a multiple of a peer's. A time below what a clock can tell counts as that.
    pub(crate) fn ratio(&self, peer: &str) -> Option<f64> {
        let least = |time: f64| time.max(0.001);
        Some(least(self.time(HARN)?) / least(self.time(peer)?))
    }

    /// Our time as a multiple of that of the faster peer.
    pub(crate) fn ratio_to_the_faster(&self) -> Option<f64> {
        let (python, node) = (self.ratio(PYTHON)?, self.ratio(NODE)?);
        Some(python.max(node))
    }

    /// Whether everybody who took part gave the right answer.
    pub(crate) fn all_answered(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.all(|(_, entry)| *entry != Entry::Failed)
    }

    #[cfg(test)]
    pub(crate) fn of(about: &'static str, times: [f64; 3]) -> Self {
        let names = [HARN, PYTHON, NODE].into_iter();
        let entries = names
            .zip(times)
            .map(|(name, time)| (name, Entry::Best(time)));
        Self {
            about,
            entries: entries.collect(),
        }
    }
}

/// A language on its way through a row.
struct Lane<'a> {
    language: &'a Language,
    entry: Entry,
    answer: Option<String>,
}

impl<'a> Lane<'a> {
    fn new(language: &'a Language) -> Self {
        Self {
            language,
            entry: Entry::Best(f64::INFINITY),
            answer: None,
        }
    }

    /// A language that has failed is not asked again.
    fn run_once(&mut self, row: &Row, material: &Material, smoke: bool) {
        let Entry::Best(best) = self.entry else {
            return;
        };
        let (count, rounds) = row.size(smoke);
        let folder = material.folder().to_string_lossy();
        let words = [&*folder, &count.to_string(), &rounds.to_string()];
        let file = row.file(self.language.extension);
        match process::run(self.language.command(&file, words)) {
            Ok(run) => match answer_and_time(&run.output) {
                Some((answer, time)) => {
                    self.answer = Some(answer);
                    self.entry = Entry::Best(best.min(time));
                }
                None => self.fail(row, &format!("printed `{}`", run.output)),
            },
            Err(why) if why.contains(NOT_THERE) => self.entry = Entry::NotMeasured,
            Err(why) => self.fail(row, &why),
        }
    }

    #[expect(clippy::print_stderr, reason = "the table has no room for reasons")]
    fn fail(&mut self, row: &Row, why: &str) {
        eprintln!("{} in {}: {why}", row.name, self.language.name);
        self.entry = Entry::Failed;
    }
}

/// The two lines that every program prints.
fn answer_and_time(output: &str) -> Option<(String, f64)> {
    let (answer, time) = output.split_once('\n')?;
    Some((answer.to_owned(), time.trim().parse().ok()?))
}

/// Everybody must say what CPython says.
fn compare(row: &Row, lanes: &mut [Lane<'_>]) {
    let judge = lanes.iter().find(|lane| lane.language.name == PYTHON);
    let Some(expected) = judge.and_then(|lane| lane.answer.clone()) else {
        return;
    };
    for lane in lanes {
        match &lane.answer {
            Some(answer) if *answer != expected => {
                let why = format!("answered `{answer}` where CPython answered `{expected}`");
                lane.fail(row, &why);
            }
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_print_an_answer_and_a_time() {
        assert_eq!(answer_and_time("7\n12.5"), Some(("7".to_owned(), 12.5)));
        assert_eq!(answer_and_time("7"), None);
        assert_eq!(answer_and_time("7\nsoon"), None);
    }

    #[test]
    fn the_faster_peer_counts() {
        let race = Race::of("x", [2.0, 4.0, 1.0]);
        assert_eq!(race.ratio(PYTHON), Some(0.5));
        assert_eq!(race.ratio_to_the_faster(), Some(2.0));
    }
}
