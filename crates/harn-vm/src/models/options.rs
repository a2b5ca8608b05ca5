//! What whoever runs a program says about models.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use harn_agent::llm::mock::fixtures;
use harn_agent::llm::scenario::Scenario;
use harn_agent::llm::tape::{Matching, Tape};

use crate::project::TrustSource;

/// What whoever runs a program says about models. The environment says the rest.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// The manifest of the project, for its tables `[llm]` and `[capabilities]`.
    pub manifest: Option<PathBuf>,
    /// Who says whether what came with that project may act.
    pub trust: TrustSource,
    /// Files of answers that stand for those of models.
    pub fixtures: Vec<NamedText>,
    /// Where every answer is written, in the format of those files.
    pub record_fixtures: Option<PathBuf>,
    /// Answers kept by the hash of what was asked.
    pub rerun: Option<Rerun>,
    /// What goes over the network, written down or given again.
    pub tape: Option<TapeUse>,
    /// A scenario that answers instead of providers.
    pub scenario: Option<ScenarioUse>,
    /// Tells the operator what is odd; without it, `tracing` does.
    pub warn: Option<Warn>,
}

/// Tells the operator what is odd.
#[derive(Clone)]
pub struct Warn(pub Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for Warn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Warn")
    }
}

/// A file that somebody has read.
#[derive(Clone, Debug)]
pub struct NamedText {
    /// How errors call it.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Answers kept by the hash of what was asked.
#[derive(Clone, Debug)]
pub enum Rerun {
    /// They are kept in this folder.
    Record(PathBuf),
    /// They come from this folder.
    Replay(PathBuf),
}

/// What goes over the network, written down or given again.
#[derive(Clone, Debug)]
pub enum TapeUse {
    /// It is written to this file.
    Record(PathBuf),
    /// It comes from a file.
    Replay {
        /// The file.
        tape: NamedText,
        /// Which exchange answers.
        matching: Matching,
    },
}

/// A scenario that answers instead of providers.
#[derive(Clone, Debug)]
pub struct ScenarioUse {
    /// Its file.
    pub file: NamedText,
    /// Whether it takes as long as a real model would.
    pub in_real_time: bool,
}

impl ModelOptions {
    /// Checks the files that were given, so that a mistake is told before a program starts.
    ///
    /// # Errors
    /// The first mistake, with file and line.
    pub fn check(&self) -> Result<(), String> {
        for NamedText { name, text } in &self.fixtures {
            fixtures::check(name, text)?;
        }
        if let Some(TapeUse::Replay { tape, .. }) = &self.tape {
            let tape = Tape::read(&tape.name, tape.text.as_bytes());
            tape.map_err(|error| error.to_string())?;
        }
        if let Some(ScenarioUse { file, .. }) = &self.scenario {
            let scenario = Scenario::parse(&file.name, &file.text);
            scenario.map_err(|mistake| mistake.to_string())?;
        }
        Ok(())
    }
}
