//! What a log keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::now_ms;

/// A record before it has a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// What it is, in the words of whoever appends it.
    pub kind: String,
    /// What it says.
    pub payload: Value,
    /// What others need to know to handle it: names and texts, sorted by name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// When it happened, in milliseconds since the Unix epoch.
    pub occurred_at_ms: i64,
}

impl LogEvent {
    /// An event that happens now, without headers.
    pub fn new(kind: impl Into<String>, payload: Value) -> Self {
        Self::at(kind, payload, now_ms())
    }

    /// An event that happened at a time somebody else has read off a clock.
    pub fn at(kind: impl Into<String>, payload: Value, occurred_at_ms: i64) -> Self {
        Self {
            kind: kind.into(),
            payload,
            headers: BTreeMap::new(),
            occurred_at_ms,
        }
    }

    /// Replaces the headers.
    #[must_use]
    pub fn with_headers(mut self, headers: BTreeMap<String, String>) -> Self {
        self.headers = headers;
        self
    }

    /// Adds a header, or replaces the one of this name.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }
}
