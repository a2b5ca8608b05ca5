//! Who may write what: one owner at a time, also across processes.
//!
//! ```text
//! <folder>/opening.lock               held for a moment by a process that claims or looks
//! <folder>/<owner id>.<epoch>.lock    held by its process for as long as that lives
//! ```
//!
//! A *name* is whatever the log's users write under one owner; to the agent runtime that is a
//! session. A process claims it before it writes the first record and gives it back after the
//! last one. The lock on the owner's file is the proof that the process lives: the operating
//! system drops it at any death, so a killed owner frees its names at once and no clock is
//! involved. What an owner has claimed stands in its file, a line for each claim and release.
//!
//! Two logs of one process that have the same file open are two owners. Within one log a
//! [`ClaimScope`] tells its users apart.
//!
//! A log in memory needs no file: all that can reach it have the same [`Owners`].

mod folder;

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::now_ms;
pub(crate) use folder::OwnerFolder;

/// A process that owns names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its id; no other owner has it.
    pub id: String,
    /// The number of its ownership, from 1.
    pub epoch: u64,
    /// The id that the operating system knows the process by.
    pub process: u32,
    /// The machine it runs on.
    pub host: String,
    /// When it began to own something, in milliseconds since the Unix epoch.
    pub since_ms: i64,
    /// What it owns, in order of the names.
    pub names: Vec<String>,
}

/// Why a name could not be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another owner has it.
    #[error("it is in use by process {} on {}", .0.process, .0.host)]
    InUse(Box<Owner>),
    /// It cannot be found out who has it, or not be written down that this process has.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Which user of a log claims. The claims of one scope are shared, those of two exclude each
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClaimScope(u64);

impl ClaimScope {
    /// The scope of a user who is known by a name: the same whenever it is asked for. No scope
    /// that [`Owners::scope`] gives is like it.
    pub fn named(name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self(hasher.finish() | 1 << 63)
    }
}

/// The owners of the names of one log.
pub struct Owners {
    /// Where processes tell each other; `None`: nobody else can reach the log.
    folder: Option<OwnerFolder>,
    claimed: Mutex<Claimed>,
    scopes: AtomicU64,
}

#[derive(Default)]
struct Claimed {
    /// This process as an owner, from its first claim on.
    owner: Option<Owner>,
    names: HashMap<String, Holding>,
}

/// A name that is claimed here.
struct Holding {
    scope: ClaimScope,
    /// How many claims of that scope there are.
    claims: usize,
}

/// The right to write under a name. It is given back when this is dropped.
pub struct Claim {
    owners: Arc<Owners>,
    name: String,
}

impl Claim {
    /// What was claimed.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.owners.release(&self.name);
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Claim").field(&self.name).finish()
    }
}

impl Owners {
    /// The owners of a log that only this process can reach.
    pub(crate) fn here() -> Arc<Self> {
        Self::told_in(None)
    }

    /// The owners of a log on a disk.
    pub(crate) fn in_folder(folder: OwnerFolder) -> Arc<Self> {
        Self::told_in(Some(folder))
    }

    fn told_in(folder: Option<OwnerFolder>) -> Arc<Self> {
        Arc::new(Self {
            folder,
            claimed: Mutex::default(),
            scopes: AtomicU64::new(1),
        })
    }

    /// A user of the log that excludes all others.
    pub fn scope(&self) -> ClaimScope {
        ClaimScope(self.scopes.fetch_add(1, Ordering::Relaxed))
    }

    /// Claims a name.
    ///
    /// # Errors
    /// Another owner or scope has it; then nothing was written. Or the folder of the owners
    /// cannot be read or written.
    pub fn claim(self: &Arc<Self>, scope: ClaimScope, name: &str) -> Result<Claim, ClaimError> {
        self.claim_with(scope, name, |folder, owner| {
            folder.claim(owner, name).map_err(ClaimError::from)
        })
    }

    /// Claims a name that was just made and that nobody else can know yet, so other owners need
    /// not be asked.
    ///
    /// # Errors
    /// The folder of the owners cannot be written.
    pub fn claim_new(self: &Arc<Self>, scope: ClaimScope, name: &str) -> Result<Claim, ClaimError> {
        self.claim_with(scope, name, |folder, _| {
            folder.note_claim(name)?;
            Ok(None)
        })
    }

    fn claim_with(
        self: &Arc<Self>,
        scope: ClaimScope,
        name: &str,
        ask_others: impl FnOnce(&OwnerFolder, &Owner) -> Result<Option<Owner>, ClaimError>,
    ) -> Result<Claim, ClaimError> {
        let mut claimed = self.claimed();
        let claimed = &mut *claimed;
        match claimed.names.get_mut(name) {
            Some(holding) if holding.scope == scope => holding.claims += 1,
            Some(_) => {
                let owner = claimed.owner.clone().expect("who has claimed is an owner");
                return Err(ClaimError::InUse(Box::new(owner)));
            }
            None => {
                let owner = self.become_owner(&mut claimed.owner)?;
                if let Some(folder) = &self.folder
                    && let Some(other) = ask_others(folder, owner)?
                {
                    return Err(ClaimError::InUse(Box::new(other)));
                }
                let holding = Holding { scope, claims: 1 };
                claimed.names.insert(name.to_owned(), holding);
            }
        }
        Ok(Claim {
            owners: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    fn become_owner<'a>(&self, owner: &'a mut Option<Owner>) -> io::Result<&'a Owner> {
        if owner.is_none() {
            let mut fresh = Owner {
                id: format!("{:x}-{:x}", now_ms(), std::process::id()),
                epoch: 1,
                process: std::process::id(),
                host: host_name(),
                since_ms: now_ms(),
                names: Vec::new(),
            };
            if let Some(folder) = &self.folder {
                folder.enter(&mut fresh)?;
            }
            *owner = Some(fresh);
        }
        Ok(owner.as_ref().expect("it was just made"))
    }

    fn release(&self, name: &str) {
        let mut claimed = self.claimed();
        let Some(holding) = claimed.names.get_mut(name) else {
            return;
        };
        holding.claims -= 1;
        if holding.claims == 0 {
            claimed.names.remove(name);
            if let Some(folder) = &self.folder {
                let still_claimed = claimed.names.keys().map(String::as_str);
                folder.note_release(name, still_claimed);
            }
        }
    }

    /// Who owns a name, in this process or another.
    ///
    /// # Errors
    /// The folder of the owners cannot be read.
    pub fn owner_of(&self, name: &str) -> io::Result<Option<Owner>> {
        let owners = self.all()?;
        let mut owners = owners.into_iter();
        Ok(owners.find(|owner| owner.names.iter().any(|owned| owned == name)))
    }

    /// All who own something, the oldest first.
    ///
    /// # Errors
    /// The folder of the owners cannot be read.
    pub fn all(&self) -> io::Result<Vec<Owner>> {
        let claimed = self.claimed();
        let own = claimed.owner.as_ref().map(|owner| {
            let mut names: Vec<String> = claimed.names.keys().cloned().collect();
            names.sort();
            Owner {
                names,
                ..owner.clone()
            }
        });
        let mut all = match &self.folder {
            Some(folder) => folder.others()?,
            None => Vec::new(),
        };
        all.extend(own);
        all.retain(|owner| !owner.names.is_empty());
        all.sort_by(|one, other| (one.since_ms, &one.id).cmp(&(other.since_ms, &other.id)));
        Ok(all)
    }

    fn claimed(&self) -> MutexGuard<'_, Claimed> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this machine is called.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
