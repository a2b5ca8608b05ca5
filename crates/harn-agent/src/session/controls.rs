//! What the guards and judges of a loop have decided so far.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the guards and judges of a loop have decided so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlState {
    /// How many iterations there may be, once that was changed.
    pub limit: Option<usize>,
    /// How often it was raised.
    pub extensions: usize,
    /// What was decided about it.
    pub decisions: Vec<Value>,
    /// How often each judge has refused an end.
    pub vetoes: BTreeMap<String, u64>,
    /// What judges said.
    pub verdicts: Vec<Value>,
    /// Why the loop ended, if something here ended it.
    pub stop_reason: Option<String>,
    /// Calls of the model that failed in a row.
    pub failures: u64,
    /// Turns in a row without progress.
    pub idle_turns: u64,
    /// How often a turn was asked for again because of its structure.
    pub revisions: u64,
    /// Tokens that judges have read and written.
    pub tokens: u64,
}
