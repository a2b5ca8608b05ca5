//! What a task inside the loop of an agent may do with files.
//!
//! ```text
//! task ─► its session ─► policies of the loop ─► roots ─┐
//!                                              level ───┼─► the files that it may use
//!                        the memory of Harn ────────────┘
//! ```
//!
//! Every request for a file says whose it is, and is judged where it is performed. So it does not
//! matter which builtin makes it, and a new builtin cannot forget to ask.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_agent::protected_paths::{ProtectedPaths, SourceFiles};
use harn_machine::Value;
use harn_machine::value::Dict;

use super::port::AgentPort;
use super::{POLICY, SESSION};
use crate::files::{AgentTask, Asker, Files};
use crate::policy::{Policy, Refusal, Rules};

/// What holds for the task that asks.
#[derive(Default)]
pub(crate) struct Confinement {
    /// The session in whose loop it runs.
    session: Option<String>,
    /// The session whose policies hold for it.
    policy: Option<String>,
    protected: Option<Arc<ProtectedPaths>>,
    sources: SourceFiles,
    /// The last roots that were asked for. Their links are followed once.
    known: Option<(Vec<Vec<String>>, Policy)>,
}

impl Confinement {
    /// The task with these values asks next.
    pub(crate) fn enter(&mut self, values: &Dict) {
        let note = |known: &mut Option<String>, key: &str| {
            let now = match values.get(key) {
                Some(Value::Text(session)) => Some(session.as_str()),
                _ => None,
            };
            if known.as_deref() != now {
                *known = now.map(str::to_owned);
            }
        };
        note(&mut self.session, SESSION);
        note(&mut self.policy, POLICY);
    }

    /// Whether the task runs inside no loop.
    pub(crate) fn is_free(&self) -> bool {
        self.session.is_none() && self.policy.is_none()
    }

    /// Nothing is asked yet by a program that consists of those files.
    pub(crate) fn new(sources: SourceFiles) -> Self {
        Self {
            sources,
            ..Self::default()
        }
    }

    /// Files, as far as the task may use them.
    pub(crate) fn narrow(
        &mut self,
        files: &Files,
        agents: &AgentPort,
        environment: &BTreeMap<String, String>,
    ) -> Result<Files, Refusal> {
        if self.is_free() {
            return Ok(files.clone());
        }
        let folder = std::path::absolute(files.at(Path::new(".")));
        let folder = folder.unwrap_or_else(|_| PathBuf::from("/"));
        let (only_reads, policy) = match self.policy.clone() {
            None => (false, files.policy.clone()),
            Some(session) => {
                let ambient = agents.ambient(&session);
                let roots = ambient.workspace_roots();
                let policy = self.narrowed(&files.policy, &folder, roots)?;
                (!ambient.may_write(), policy)
            }
        };
        let sources = &self.sources;
        let protected = self.protected.get_or_insert_with(|| {
            let variable = |name: &str| environment.get(name).cloned();
            let protected = ProtectedPaths::of(&folder, &variable);
            Arc::new(protected.with_sources(sources.clone()))
        });
        Ok(Files {
            policy,
            folder: files.folder.clone(),
            read_bytes_max: files.read_bytes_max,
            asker: Asker::Agent(AgentTask {
                protected: Arc::clone(protected),
                folder,
                only_reads,
            }),
        })
    }

    /// A policy with the roots of all levels.
    fn narrowed(
        &mut self,
        policy: &Policy,
        folder: &Path,
        levels: Vec<Vec<String>>,
    ) -> Result<Policy, Refusal> {
        if let Some((known, narrowed)) = &self.known
            && *known == levels
        {
            return Ok(narrowed.clone());
        }
        let mut narrowed = policy.clone();
        for roots in &levels {
            let rules = Rules {
                workspace_roots: roots.iter().map(|root| folder.join(root)).collect(),
                ..Rules::default()
            };
            narrowed = narrowed
                .narrowed(rules)
                .map_err(|error| Refusal::new(error.to_string()))?;
        }
        self.known = Some((levels, narrowed.clone()));
        Ok(narrowed)
    }
}
