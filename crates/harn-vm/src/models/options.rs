//! What whoever runs a program says about models.

use std::path::PathBuf;

/// What whoever runs a program says about models. The environment says the rest.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// The manifest of the project, for its tables `[llm]` and `[capabilities]`.
    pub manifest: Option<PathBuf>,
    /// Files of answers that stand for those of models.
    pub fixtures: Vec<FixtureFile>,
    /// Where every answer is written, in the format of those files.
    pub record_fixtures: Option<PathBuf>,
    /// Answers kept by the hash of what was asked.
    pub rerun: Option<Rerun>,
}

/// A file of answers.
#[derive(Clone, Debug)]
pub struct FixtureFile {
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
