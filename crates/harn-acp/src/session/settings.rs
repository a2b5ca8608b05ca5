//! What a client has asked for in a session, as its journal keeps it.

use std::path::PathBuf;

use harn_vm::agent::Principal;
use harn_vm::agent::session::{SessionState, kept};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where a session works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its folder.
    pub(crate) cwd: PathBuf,
    /// Other folders that belong to it.
    pub(crate) more: Vec<PathBuf>,
}

/// What a client has asked for in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Who has made the session; nothing in those that are older than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<Principal>,
    /// The folder it works in.
    pub(crate) cwd: PathBuf,
    /// Other folders that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) additional_directories: Vec<PathBuf>,
    /// The model, if somebody chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// How much the model thinks, if somebody chose that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thought_level: Option<String>,
    /// The mode, if somebody chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<String>,
    /// What the fork is called, if it is one and has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
}

impl Settings {
    /// The settings of a session that begins somewhere.
    pub(crate) fn new(place: Place, owner: Principal) -> Self {
        Self {
            owner: Some(owner),
            cwd: place.cwd,
            additional_directories: place.more,
            ..Self::default()
        }
    }

    /// Whether the session belongs to somebody.
    pub(crate) fn belongs_to(&self, who: &Principal) -> bool {
        who.owns(self.owner.as_ref())
    }

    /// The folders that the session is kept in: where it works, and then the others.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let more = self.additional_directories.iter().cloned();
        std::iter::once(self.cwd.clone()).chain(more).collect()
    }

    /// Reads them from what a session keeps; nothing if no client has ever talked to it.
    pub(crate) fn of(state: &SessionState) -> Option<Self> {
        Self::read(state.kept.get(kept::SETTINGS)?)
    }

    /// Reads them; nothing if they do not say where the session works.
    pub(crate) fn read(kept: &Value) -> Option<Self> {
        let settings: Self = serde_json::from_value(kept.clone()).ok()?;
        (!settings.cwd.as_os_str().is_empty()).then_some(settings)
    }

    /// As they are kept.
    pub(crate) fn kept(&self) -> Value {
        json!(self)
    }
}
