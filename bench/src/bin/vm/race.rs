//! One program in every language, in turns.

use std::time::Duration;

use crate::language::{self, Language};
use crate::options::Options;
use crate::programs::{Kind, Program};
use harn_bench::process;

/// What a language did with a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// Its best time.
    Best(Duration),
    /// The language cannot do this.
    Absent,
    /// It failed, or printed something else than the others. Why was said on stderr.
    Failed,
}

/// A program in all languages.
#[derive(Debug)]
pub(crate) struct Race {
    pub(crate) name: &'static str,
    /// In the order of the languages.
    entries: Vec<(&'static str, Entry)>,
}

impl Race {
    /// Runs every language once, then again, so that a bad moment of the machine meets all.
    pub(crate) fn run(languages: &[Language], program: &Program, options: &Options) -> Self {
        let mut lanes: Vec<Lane<'_>> = languages
            .iter()
            .map(|language| Lane::new(language, program))
            .collect();
        for _ in 0..options.runs * program.rounds_each() {
            for lane in &mut lanes {
                lane.run_once(program, options);
            }
        }
        if program.kind != Kind::Startup {
            compare(program, &mut lanes);
        }
        let entries = lanes
            .into_iter()
            .map(|lane| (lane.language.name, lane.entry));
        Self {
            name: program.name,
            entries: entries.collect(),
        }
    }

    /// What a language needed; nothing if it did not take part or failed.
    pub(crate) fn time(&self, language: &str) -> Option<Duration> {
        match self.entry(language) {
            Entry::Best(time) => Some(*time),
            Entry::Absent | Entry::Failed => None,
        }
    }

    pub(crate) fn entry(&self, language: &str) -> &Entry {
        let mut entries = self.entries.iter();
        let found = entries.find(|(name, _)| *name == language);
        found.map_or(&Entry::Absent, |(_, entry)| entry)
    }

    /// Our time as a multiple of a peer's.
    pub(crate) fn ratio(&self, peer: &str) -> Option<f64> {
        let (ours, theirs) = (self.time(language::HARN)?, self.time(peer)?);
        Some(ours.as_secs_f64() / theirs.as_secs_f64())
    }

    /// Whether everybody who took part gave the right answer.
    pub(crate) fn all_answered(&self) -> bool {
        self.entries
            .iter()
            .all(|(_, entry)| *entry != Entry::Failed)
    }

    #[cfg(test)]
    pub(crate) fn of(name: &'static str, entries: &[(&'static str, Entry)]) -> Self {
        Self {
            name,
            entries: entries.to_vec(),
        }
    }
}

/// All races that were run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) races: Vec<Race>,
}

impl Results {
    pub(crate) fn add(&mut self, race: Race) {
        self.races.push(race);
    }

    pub(crate) fn all_answered(&self) -> bool {
        self.races.iter().all(Race::all_answered)
    }
}

/// A language on its way through a program.
struct Lane<'a> {
    language: &'a Language,
    entry: Entry,
    output: Option<String>,
}

impl<'a> Lane<'a> {
    fn new(language: &'a Language, program: &Program) -> Self {
        let is_there = program.file(language.extension).is_some();
        Self {
            language,
            entry: match is_there {
                true => Entry::Best(Duration::MAX),
                false => Entry::Absent,
            },
            output: None,
        }
    }

    /// A language that has failed is not asked again.
    fn run_once(&mut self, program: &Program, options: &Options) {
        let Entry::Best(best) = self.entry else {
            return;
        };
        let Some(file) = program.file(self.language.extension) else {
            return;
        };
        let command = self.language.command(&file, program.size(options.smoke));
        let run = match options.processor_time && program.kind == Kind::Work {
            true => process::run_counting_processor_time(&command),
            false => process::run(command),
        };
        match run {
            Ok(run) => {
                self.entry = Entry::Best(best.min(run.time));
                self.output = Some(run.output);
            }
            Err(why) => self.fail(program, &why),
        }
    }

    #[expect(clippy::print_stderr, reason = "the table has no room for reasons")]
    fn fail(&mut self, program: &Program, why: &str) {
        eprintln!("{} in {}: {why}", program.name, self.language.name);
        self.entry = Entry::Failed;
    }
}

/// Everybody must say what CPython says, which takes part in every program.
fn compare(program: &Program, lanes: &mut [Lane<'_>]) {
    let judge = lanes
        .iter()
        .find(|lane| lane.language.name == language::PYTHON);
    let Some(expected) = judge.and_then(|lane| lane.output.clone()) else {
        return;
    };
    for lane in lanes {
        match &lane.output {
            Some(output) if *output != expected => {
                let why = format!("printed `{output}` where CPython printed `{expected}`");
                lane.fail(program, &why);
            }
            Some(_) | None => {}
        }
    }
}
