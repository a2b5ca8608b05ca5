//! Where a session works, and what changes there.

use serde::{Deserialize, Serialize};

use super::string_enum::string_enum;

/// One coalesced file notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FsWatchEvent {
    /// create, modify, remove, rename, access, other or error.
    pub kind: String,
    /// Absolute paths; empty for error.
    pub paths: Vec<String>,
    /// Paths relative to the watch root.
    pub relative_paths: Vec<String>,
    /// Backend's own name.
    pub raw_kind: String,
    /// Watcher failure text; always written.
    #[serde(default)]
    pub error: Option<String>,
}

/// Value of anchor_changed.previous and current.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceAnchor {
    /// Canonical path.
    pub primary: String,
    /// Further roots.
    #[serde(default)]
    pub additional_roots: Vec<MountedRoot>,
    /// Time text.
    pub anchored_at: String,
}

/// Extra workspace root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MountedRoot {
    /// File path.
    pub path: String,
    /// How it is mounted.
    pub mount_mode: MountMode,
    /// Time text.
    pub mounted_at: String,
}

string_enum! {
    /// How a root is mounted.
    pub enum MountMode {
        /// Default.
        ReadOnly = "read_only",
        /// Writable part of the workspace.
        Extend = "extend",
        /// Writable, isolated.
        Sandboxed = "sandboxed",
    }
    unknown => ReadOnly
}
