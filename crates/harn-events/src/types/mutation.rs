//! Who may change the workspace, and under which approval rules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Audit identity of a write-capable session. Every key is always written; every key is optional on
/// read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MutationSessionRecord {
    /// Mutation session; normalisation mints `session_<id>` when empty.
    pub session_id: String,
    /// Owning agent session.
    pub parent_session_id: Option<String>,
    /// Run.
    pub run_id: Option<String>,
    /// Worker.
    pub worker_id: Option<String>,
    /// e.g. worker.
    pub execution_kind: Option<String>,
    /// Scope label; normalisation sets read_only when empty, e.g. apply_workspace.
    pub mutation_scope: String,
    /// Approval rules in force.
    pub approval_policy: Option<ToolApprovalPolicy>,
}

/// Approval rules. Every key is optional on read.
///
/// Later revisions add rules, allow_sensitive_paths, sensitive_path_patterns, allow_external_paths,
/// external_roots, repeat_limit (alias repeated_call_limit) and repeat_action (alias
/// repeated_call_action). Keep unknown keys when copying the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolApprovalPolicy {
    /// Tool globs approved without asking.
    pub auto_approve: Vec<String>,
    /// Tool globs always refused.
    pub auto_deny: Vec<String>,
    /// Tool globs that need the host's consent.
    pub require_approval: Vec<String>,
    /// Writable path globs.
    pub write_path_allowlist: Vec<String>,
    /// Keys of later revisions, kept when the record is copied.
    #[serde(flatten)]
    pub later: BTreeMap<String, Value>,
}
