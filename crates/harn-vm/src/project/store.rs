//! What the operator has answered: `trust.toml` in the state folder of Harn.
//!
//! The file decides what may be started, so it is for its owner alone: 0600 in a folder of 0700.
//! One that others could have written is not believed.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::contents::Contents;

/// The file in the state folder.
const FILE: &str = "trust.toml";

/// How many answers are kept about one project: the newest.
const ANSWERS_MAX: usize = 16;

/// What the operator has answered about projects.
#[derive(Clone, Debug)]
pub struct TrustStore {
    file: Option<PathBuf>,
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It may act.
    Yes,
    /// It may not.
    No,
}

/// One answer about one project as it was then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The real path of the project's folder.
    pub path: PathBuf,
    /// The device and inode of the folder, so that another one in its place is not taken for it.
    pub identity: String,
    /// The digest of what could act.
    pub digest: String,
    /// What was answered.
    pub verdict: Verdict,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Who has answered: `terminal` if somebody was asked there, `command` for `harn trust`.
    pub by: String,
    /// What could act then, for telling what has changed since.
    #[serde(default)]
    pub parts: Vec<KnownPart>,
}

/// A part of a project as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPart {
    /// What it is called.
    pub name: String,
    /// The command, host, function or file.
    pub detail: String,
    /// The digest of all that was said about it.
    pub digest: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Answers {
    #[serde(default)]
    project: Vec<Answer>,
}

impl TrustStore {
    /// The store in a state folder; without one, nothing is kept.
    pub(super) fn new(state: Option<&Path>) -> Self {
        Self {
            file: state.map(|folder| folder.join(FILE)),
        }
    }

    /// The answers about a folder, the oldest first.
    pub fn of(&self, root: &Path) -> Vec<Answer> {
        let Ok(identity) = identity_of(root) else {
            return Vec::new();
        };
        let is_it = |answer: &Answer| answer.path == root && answer.identity == identity;
        let answers = self.all().unwrap_or_default().into_iter();
        answers.filter(is_it).collect()
    }

    /// All answers, the oldest first.
    ///
    /// # Errors
    /// The file cannot be read, or others could have written it.
    pub fn all(&self) -> io::Result<Vec<Answer>> {
        let Some(path) = &self.file else {
            return Ok(Vec::new());
        };
        let named = |why: String| io::Error::other(format!("{}: {why}", path.display()));
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(named(error.to_string())),
        };
        let status = fs::metadata(path)?;
        let is_ours = status.uid() == rustix::process::geteuid().as_raw();
        if !is_ours || status.mode() & 0o022 != 0 {
            return Err(named("others could have written it".to_owned()));
        }
        let answers: Answers = toml::from_str(&text).map_err(|error| named(error.to_string()))?;
        Ok(answers.project)
    }

    /// Keeps an answer about a project as it is.
    ///
    /// # Errors
    /// It cannot be kept; says why.
    pub fn answer(
        &self,
        contents: &Contents,
        verdict: Verdict,
        by: &str,
        at_ms: i64,
    ) -> io::Result<()> {
        if let (Verdict::Yes, Some(what)) = (verdict, contents.unreadable.first()) {
            return Err(io::Error::other(what.clone()));
        }
        let parts = contents.parts.iter().map(|part| KnownPart {
            name: part.name.clone(),
            detail: part.detail.clone(),
            digest: part.digest.clone(),
        });
        let answer = Answer {
            path: contents.root.clone(),
            identity: identity_of(&contents.root)?,
            digest: contents.digest.clone(),
            verdict,
            at_ms,
            by: by.to_owned(),
            parts: parts.collect(),
        };
        let mut answers = self.all()?;
        answers.retain(|one| one.path != answer.path || one.digest != answer.digest);
        answers.push(answer);
        let of_project = |one: &Answer| one.path == contents.root;
        while answers.iter().filter(|one| of_project(one)).count() > ANSWERS_MAX {
            let oldest = answers.iter().position(of_project);
            oldest.map(|at| answers.remove(at));
        }
        self.write(&Answers { project: answers })
    }

    /// Takes back all answers about a project. Whether there were any.
    ///
    /// # Errors
    /// The file cannot be replaced; says why.
    pub fn forget(&self, root: &Path) -> io::Result<bool> {
        let mut answers = self.all()?;
        let count = answers.len();
        answers.retain(|one| one.path != root);
        let has_changed = answers.len() != count;
        if has_changed {
            self.write(&Answers { project: answers })?;
        }
        Ok(has_changed)
    }

    /// Replaces the file in one step, so that no crash leaves half of it.
    fn write(&self, answers: &Answers) -> io::Result<()> {
        let path = self.file.as_ref().ok_or_else(|| {
            io::Error::other("there is no state folder: HOME and XDG_STATE_HOME are not set")
        })?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        let text = toml::to_string(answers).map_err(io::Error::other)?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    }
}

/// What tells a folder from another one that takes its place.
fn identity_of(folder: &Path) -> io::Result<String> {
    let status = fs::metadata(folder)?;
    Ok(format!("{}:{}", status.dev(), status.ino()))
}
