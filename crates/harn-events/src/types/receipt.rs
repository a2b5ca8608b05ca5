//! Proof of a tool call that holds hashes and no raw data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Audited tool call without raw data. All twenty keys are always written; no other key is allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCallReceipt {
    /// 1.
    pub schema_version: u32,
    /// Non-empty.
    pub session_id: String,
    /// Run it belongs to.
    #[serde(default)]
    pub run_id: Option<String>,
    /// Non-empty.
    pub tool_call_id: String,
    /// Non-empty.
    pub tool_name: String,
    /// Loop iteration.
    pub iteration: u64,
    /// Turn within the run.
    #[serde(default)]
    pub turn_index: Option<u64>,
    /// Order within the run.
    pub emit_order: u64,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// What kind of thing it is.
    #[serde(default)]
    pub kind: Option<String>,
    /// harn, host_bridge, mcp_server, provider_native or null (note: harn, not harn_builtin).
    #[serde(default)]
    pub executor: Option<String>,
    /// ok, schema_violation, consent_denied, timeout or error.
    pub status: String,
    /// Failure class.
    #[serde(default)]
    pub error_category: Option<String>,
    /// Wall time.
    pub duration_ms: u64,
    /// 64 lower-case hex digits.
    pub args_hash: String,
    /// 64 lower-case hex digits or null.
    #[serde(default)]
    pub result_hash: Option<String>,
    /// Middleware record.
    pub audit: Value,
    /// RFC 3339.
    pub emitted_at: String,
    /// Model.
    #[serde(default)]
    pub model: Option<String>,
    /// Provider.
    #[serde(default)]
    pub provider: Option<String>,
}
