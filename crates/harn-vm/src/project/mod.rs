//! Whether what came with a project may act.
//!
//! ```text
//! harn.toml, skills, AGENTS.md ─► Contents: parts and a digest ─┐
//! trust.toml of the operator ───► Answers ──────────────────────┴─► Standing ─► ProjectTrust
//! ```
//!
//! A folder that was cloned can name processes to start, hosts to ask and texts for models. It
//! may do so after the operator has seen it: the answer is remembered with the digest of what
//! was seen, so that other contents are another question. Contents are judged whenever a program
//! is loaded, because a model may have written some since.
//!
//! Asking a person is left to the program around this one.

mod contents;
mod difference;
mod files;
mod store;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use contents::{Contents, Kind, Part};
pub use difference::{Change, difference};
pub use store::{Answer, TrustStore, Verdict};

use crate::llm::catalog::ProjectTrust;
use crate::program::RunOptions;

/// Who says whether a project is trusted.
#[derive(Clone, Debug, Default)]
pub enum TrustSource {
    /// The operator, by naming a program of it or by embedding us.
    #[default]
    Operator,
    /// What the operator has answered about it.
    Answers(Arc<TrustedProjects>),
    /// It was found out already.
    Known(ProjectTrust),
}

/// What the operator has answered about projects, and what was told about those that are not
/// trusted.
#[derive(Debug)]
pub struct TrustedProjects {
    store: TrustStore,
    /// The folder of the user, whose own skills belong to no project.
    home: Option<PathBuf>,
    /// The notices that were told.
    told: Mutex<BTreeSet<String>>,
}

/// A project, and what the operator has answered about it.
#[derive(Clone, Debug)]
pub struct JudgedProject {
    /// What its files could do.
    pub contents: Contents,
    /// Whether they may.
    pub standing: Standing,
}

/// How a project stands with the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is nothing in it that could act.
    Harmless,
    /// It may act as it is.
    Trusted,
    /// It may not act as it is.
    Refused,
    /// It was never asked about.
    Unknown,
    /// It was asked about, and has changed since.
    Changed(Answer),
}

impl TrustedProjects {
    /// Answers that are kept in the state folder of Harn; without one, nothing is trusted.
    pub fn new(state: Option<&Path>, home: Option<PathBuf>) -> Self {
        Self {
            store: TrustStore::new(state),
            home: home.and_then(|home| home.canonicalize().ok()),
            told: Mutex::default(),
        }
    }

    /// Where answers are kept.
    pub fn store(&self) -> &TrustStore {
        &self.store
    }

    /// Looks at the project of a folder.
    pub fn judge(&self, folder: &Path, manifest: Option<&Path>) -> JudgedProject {
        let contents = Contents::read(folder, manifest, self.home.as_deref());
        let standing = self.standing(&contents);
        JudgedProject { contents, standing }
    }

    fn standing(&self, contents: &Contents) -> Standing {
        if !contents.could_act() {
            return Standing::Harmless;
        }
        let answers = self.store.of(&contents.root);
        // What could not be looked at could be anything.
        let known = answers
            .iter()
            .rev()
            .filter(|_| contents.unreadable.is_empty());
        let known = known
            .filter(|answer| answer.digest == contents.digest)
            .map(|answer| answer.verdict)
            .next();
        match (known, answers.last()) {
            (Some(Verdict::Yes), _) => Standing::Trusted,
            (Some(Verdict::No), _) => Standing::Refused,
            (None, None) => Standing::Unknown,
            (None, Some(last)) => {
                let mut trusted = answers.iter().rev();
                let trusted = trusted.find(|answer| answer.verdict == Verdict::Yes);
                Standing::Changed(trusted.unwrap_or(last).clone())
            }
        }
    }

    /// What is to be told about a project that is not trusted; nothing if it is, or if this was
    /// told already.
    pub fn notice(&self, judged: &JudgedProject) -> Option<String> {
        let notice = judged.notice()?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let place = format!("{}\n{notice}", judged.contents.root.display());
        told.insert(place).then_some(notice)
    }
}

impl JudgedProject {
    /// Whether its files may act.
    pub fn trust(&self) -> ProjectTrust {
        match self.standing {
            Standing::Harmless | Standing::Trusted => ProjectTrust::Trusted,
            Standing::Refused | Standing::Unknown | Standing::Changed(_) => ProjectTrust::Untrusted,
        }
    }

    /// One line about what is not used, if anything is not.
    pub fn notice(&self) -> Option<String> {
        (self.trust() == ProjectTrust::Untrusted).then(|| {
            format!(
                "this project is not trusted yet: {}; 'harn trust' shows them",
                self.contents.not_used()
            )
        })
    }
}

impl RunOptions {
    /// The same options with trust found out. What is not used is told once.
    pub(crate) fn judged(&self) -> Self {
        let trust = self.find_trust();
        let mut options = self.clone();
        options.world.models.trust = TrustSource::Known(trust);
        options
    }

    /// What is not used because the project is not trusted, as one line.
    pub fn trust_notice(&self) -> Option<String> {
        match &self.world.models.trust {
            TrustSource::Operator | TrustSource::Known(_) => None,
            TrustSource::Answers(projects) => self.judge(projects).notice(),
        }
    }

    fn judge(&self, projects: &TrustedProjects) -> JudgedProject {
        let folder = self.folder.clone();
        let folder = folder.or_else(|| std::path::absolute(".").ok());
        let manifest = self.world.models.manifest.as_deref();
        projects.judge(&folder.unwrap_or_default(), manifest)
    }

    fn find_trust(&self) -> ProjectTrust {
        let models = &self.world.models;
        let projects = match &models.trust {
            TrustSource::Operator => return ProjectTrust::Trusted,
            TrustSource::Known(trust) => return *trust,
            TrustSource::Answers(projects) => projects,
        };
        let judged = self.judge(projects);
        if let Some(notice) = projects.notice(&judged) {
            match &models.warn {
                Some(warn) => (warn.0)(&notice),
                None => tracing::warn!("{notice}"),
            }
        }
        judged.trust()
    }
}

impl TrustSource {
    /// Whether a project is trusted, once that was found out. Before, it is not.
    pub fn known(&self) -> ProjectTrust {
        match self {
            Self::Operator => ProjectTrust::Trusted,
            Self::Known(trust) => *trust,
            Self::Answers(_) => ProjectTrust::Untrusted,
        }
    }
}

#[cfg(test)]
mod tests;
