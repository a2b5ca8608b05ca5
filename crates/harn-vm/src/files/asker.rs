//! Who asks for a file.
//!
//! A program may do with files what its operator leaves it. What runs inside the loop of an
//! agent works on what a model wrote, so there the memory of Harn is closed besides, what Harn
//! acts upon is not written without a person, and the policy of the loop decides whether anything
//! is changed at all.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_agent::protected_paths::{ProtectedPaths, Protection};

use super::opening::Waits;
use crate::interrupt::Interrupt;
use crate::policy::{Access, Refusal};

/// Who asks for a file.
#[derive(Clone, Debug)]
pub(crate) enum Asker {
    /// The program, which may be asked to end while it waits.
    Program(Interrupt),
    /// Something that runs inside the loop of an agent.
    Agent(AgentTask),
}

/// A task inside the loop of an agent.
#[derive(Clone, Debug)]
pub(crate) struct AgentTask {
    pub(crate) protected: Arc<ProtectedPaths>,
    /// Where it works.
    pub(crate) folder: PathBuf,
    /// Whether its policy lets it change nothing.
    pub(crate) only_reads: bool,
}

impl Default for Asker {
    fn default() -> Self {
        Self::Program(Interrupt::default())
    }
}

impl Asker {
    /// How it waits for what is no regular file.
    pub(super) fn waits(&self) -> Waits<'_> {
        match self {
            Self::Program(interrupt) => Waits::Program(interrupt),
            Self::Agent(_) => Waits::Nobody,
        }
    }

    /// Whether everything may be done with every file.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Program(_))
    }

    /// Whether something may be done with a path without links.
    pub(super) fn check(&self, access: Access, real: &Path, shown: &Path) -> Result<(), Refusal> {
        let Self::Agent(task) = self else {
            return Ok(());
        };
        self.check_level(access, shown)?;
        let verb = access.verb();
        let shown = shown.display();
        let writes = access != Access::Read;
        let reason = match task.protected.protection(real, Some(&task.folder)) {
            Some(Protection::State) => "which belongs to Harn",
            Some(Protection::Git) if writes => "which belongs to git",
            Some(Protection::Guarded { by_harn: true }) if writes => {
                "which Harn acts upon: inside an agent loop only the tools `write` and `edit` \
                 change it, which ask a person"
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(format!(
            "attempted to {verb} '{shown}', {reason}"
        )))
    }

    /// Whether anything may be changed.
    pub(super) fn check_level(&self, access: Access, shown: &Path) -> Result<(), Refusal> {
        match self {
            Self::Agent(task) if task.only_reads && access != Access::Read => {
                let (verb, shown) = (access.verb(), shown.display());
                Err(Refusal::new(format!(
                    "attempted to {verb} '{shown}' under a policy that lets nothing be written"
                )))
            }
            Self::Agent(_) | Self::Program(_) => Ok(()),
        }
    }

    /// Whether an open file may be used, which can be one of the state under another name.
    pub(super) fn check_opened(&self, facts: &Metadata) -> Result<(), &'static str> {
        match self {
            Self::Agent(task) if task.protected.is_state_by_another_name(facts) => {
                Err("it belongs to Harn under another name")
            }
            Self::Agent(_) | Self::Program(_) => Ok(()),
        }
    }
}
