//! The shapes an event takes inside the event log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Event-log record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// What kind of thing it is.
    pub kind: String,
    /// Body.
    pub payload: Value,
    /// string -> string, sorted.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// When it happened, in milliseconds since the Unix epoch.
    pub occurred_at_ms: i64,
}

/// Payload of an agent event in the event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEventLogPayload {
    /// Wall-clock milliseconds at append; a hint, not an index.
    pub index_hint: i64,
    /// Session of the sink, unsanitised.
    pub session_id: String,
    /// Event JSON with its type tag.
    pub event: Value,
    /// Later revision.
    #[serde(default)]
    pub execution_id: Option<String>,
    /// Required by S5: contiguous per session from 0; absent in older records.
    #[serde(default)]
    pub index: Option<u64>,
}

/// Result of compaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactReport {
    /// Records removed.
    pub removed: u64,
    /// Records left.
    pub remaining: u64,
    /// Newest id ever assigned.
    #[serde(default)]
    pub latest: Option<u64>,
    /// true for the SQLite backend.
    pub checkpointed: bool,
}
