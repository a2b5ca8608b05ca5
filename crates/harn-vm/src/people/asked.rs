//! What programs ask about people.

use std::collections::BTreeMap;

use harn_agent::log::EventId;
use harn_agent::people::{Outcome, RequestKind};
use serde::Deserialize;
use serde_json::Value;

/// What a program asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Asked {
    /// A request is about to be made. Answers with the headers of its record, and with the
    /// request of an earlier process if it has made the same.
    Open(About),
    /// A request was made.
    Requested {
        #[serde(flatten)]
        about: About,
        /// The headers of its record.
        headers: BTreeMap<String, String>,
        /// Whether an earlier process has made it.
        is_earlier: bool,
    },
    /// Until one of the topics has something new, or somebody answers elsewhere.
    Wait {
        request_id: String,
        topics: Vec<(String, EventId)>,
    },
    /// It is known what becomes of a request, and nobody waits any more.
    Decided { request_id: String },
    /// What became of a request was written down.
    Resolved { request_id: String, outcome: String },
}

/// A request.
#[derive(Debug, Deserialize)]
pub(super) struct About {
    kind: String,
    pub(super) payload: Value,
    pub(super) session: Option<String>,
    /// How long people have.
    pub(super) timeout_ms: i64,
}

impl About {
    pub(super) fn kind(&self) -> RequestKind {
        RequestKind::named(&self.kind).unwrap_or(RequestKind::Question)
    }
}

/// What a word of a program says about the end of a request.
pub(super) fn outcome(word: &str) -> Outcome {
    match word {
        "answered" => Outcome::Answered,
        "timeout" => Outcome::TimedOut,
        _ => Outcome::Cancelled,
    }
}
