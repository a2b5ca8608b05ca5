//! Who answers when a program asks a model, and where that is written down.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use harn_vm::llm::tape::{Matching, Redaction, TapeRecorder};
use harn_vm::{ModelOptions, NamedText, Rerun, ScenarioUse, TapeUse, Warn};

use super::project::{manifest_here, manifest_of};
use crate::output::Untrusted;

/// Where answers by hash are kept if nobody says otherwise.
const FIXTURES: &str = harn_vm::llm::mock::by_hash::FOLDER_DEFAULT;

/// Who answers when a program asks a model.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Models")]
pub(super) struct Answers {
    /// Answer models' calls from a file of JSON lines; may be given several times
    #[arg(long, value_name = "FILE")]
    llm_mock: Vec<PathBuf>,

    /// Let a scenario answer every call [default: the one beside the program, as
    /// main.scenario.toml is beside main.harn]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "tape_replay"])]
    scenario: Option<Option<PathBuf>>,

    /// Whether the scenario takes as long as a real model
    #[arg(
        long,
        value_name = "SPEED",
        default_value = "instant",
        requires = "scenario"
    )]
    scenario_speed: Speed,

    /// Keep every answer in a folder, one file per question [default: .harn-fixtures]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = FIXTURES, conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Answer from that folder, and from nowhere else [default: .harn-fixtures]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = FIXTURES)]
    replay: Option<PathBuf>,

    /// Answer from a tape instead of the network
    #[arg(long, value_name = "FILE")]
    tape_replay: Option<PathBuf>,

    /// Which answer of the tape fits a request
    #[arg(
        long,
        value_name = "HOW",
        default_value = "strict",
        requires = "tape_replay"
    )]
    tape_match: TapeMatch,
}

/// Where what is said is written down.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Models")]
pub(super) struct Recordings {
    /// Write every answer to a file that --llm-mock reads
    #[arg(long, value_name = "FILE")]
    llm_mock_record: Option<PathBuf>,

    /// Write what goes over the network to a tape, byte for byte and without keys
    #[arg(long, value_name = "FILE", conflicts_with = "tape_replay")]
    tape_record: Option<PathBuf>,
}

/// Whether a scenario takes as long as a real model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Speed {
    /// No pauses
    #[default]
    Instant,
    /// With the pauses that the scenario tells
    Realtime,
}

/// Which answer of a tape fits a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TapeMatch {
    /// The n-th request is the n-th on the tape, to the letter
    #[default]
    Strict,
    /// The same model was told the same words last
    Lenient,
}

impl Answers {
    /// Whether somebody else than the mock should answer by default.
    pub(super) fn names_somebody(&self) -> bool {
        let folders = [&self.record, &self.replay, &self.tape_replay];
        self.scenario.is_some() || folders.iter().any(|path| path.is_some())
    }

    /// The scenario that answers, if one does: the one that is named, or that of the program.
    ///
    /// # Errors
    /// It lies beside a program, and there is none.
    fn scenario(&self, program: Option<&Path>) -> Result<Option<PathBuf>, String> {
        match (&self.scenario, program) {
            (None, _) => Ok(None),
            (Some(Some(named)), _) => Ok(Some(named.clone())),
            (Some(None), Some(program)) => Ok(Some(program.with_extension("scenario.toml"))),
            (Some(None), None) => Err("--scenario needs a file here".to_owned()),
        }
    }

    /// The options for programs, but for what differs between them. `program` is the file of
    /// the only one there is.
    ///
    /// # Errors
    /// A file cannot be read or says something wrong; says which and where.
    pub(super) fn options(&self, program: Option<&Path>) -> Result<ModelOptions, String> {
        let fixtures = self.llm_mock.iter().map(|path| read(path));
        let rerun = match (&self.record, &self.replay) {
            (Some(folder), _) => Some(Rerun::Record(folder.clone())),
            (None, Some(folder)) => Some(Rerun::Replay(folder.clone())),
            (None, None) => None,
        };
        let tape = self.tape_replay.as_ref().map(|path| {
            read(path).map(|tape| TapeUse::Replay {
                tape,
                matching: match self.tape_match {
                    TapeMatch::Strict => Matching::Strict,
                    TapeMatch::Lenient => Matching::Lenient,
                },
            })
        });
        let scenario = self.scenario(program)?.map(|path| {
            read(&path).map(|file| ScenarioUse {
                file,
                in_real_time: self.scenario_speed == Speed::Realtime,
            })
        });
        let options = ModelOptions {
            fixtures: fixtures.collect::<Result<_, _>>()?,
            rerun,
            tape: tape.transpose()?,
            scenario: scenario.transpose()?,
            warn: Some(Warn(Arc::new(warn))),
            ..ModelOptions::default()
        };
        options.check()?;
        Ok(options)
    }
}

/// Tells what is odd about a call: talk, and therefore not on the standard output.
fn warn(text: &str) {
    use std::io::Write;
    let text = harn_events::KnownSecrets::of_process().redact(text);
    let _nobody_may_listen = writeln!(std::io::stderr(), "warning: {}", Untrusted(text));
}

impl Recordings {
    /// Adds where things are written, after a look whether they can be. Gives what is worth
    /// telling about a tape that exists.
    ///
    /// # Errors
    /// A file cannot be written, or is something else; says which.
    pub(super) fn add_to(&self, options: &mut ModelOptions) -> Result<Option<String>, String> {
        if let Some(path) = &self.llm_mock_record {
            let file = fs::OpenOptions::new().create(true).append(true).open(path);
            file.map_err(|error| format!("{}: {error}", path.display()))?;
            options.record_fixtures = Some(path.clone());
        }
        let Some(path) = &self.tape_record else {
            return Ok(None);
        };
        // Nothing is recorded here, so nothing has to be taken out.
        let opened = TapeRecorder::open(path, Redaction::none());
        let (_, torn) = opened.map_err(|error| error.to_string())?;
        options.tape = Some(TapeUse::Record(path.clone()));
        Ok(torn.map(|torn| {
            let (path, line) = (path.display(), torn.line);
            format!("{path} line {line} was never finished and is cut off")
        }))
    }
}

/// The options for a program that is tested: those of its project, with the answers that lie
/// beside it.
///
/// # Errors
/// The answers cannot be read or are none; says where.
pub(super) fn beside(program: &Path, shared: &ModelOptions) -> Result<ModelOptions, String> {
    let mut options = shared.clone();
    options.manifest = manifest_of(program);
    let answers = program.with_extension("llm-mock.jsonl");
    if answers.is_file() {
        options.fixtures.push(read(&answers)?);
        options.check()?;
    }
    Ok(options)
}

/// The options for a program that is just run, or typed.
pub(super) fn of_project(program: Option<&Path>) -> ModelOptions {
    let manifest = match program {
        Some(program) => manifest_of(program),
        None => manifest_here(),
    };
    ModelOptions {
        manifest,
        ..ModelOptions::default()
    }
}

fn read(path: &Path) -> Result<NamedText, String> {
    let name = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => Ok(NamedText { name, text }),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
