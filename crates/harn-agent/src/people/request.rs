//! One request to people, as the log tells of it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use harn_log::EventId;
use serde_json::Value;

use super::{RequestKind, headers};

/// One request to people.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What they are asked for.
    pub kind: RequestKind,
    /// The request as it was made: `request_id`, `prompt`, `approvers`, `metadata` and so on.
    pub payload: Value,
    /// What the record says besides.
    pub headers: BTreeMap<String, String>,
    /// Where the record is.
    pub event_id: EventId,
    /// How it stands.
    pub state: RequestState,
    /// Who has agreed so far.
    pub(super) approvals: Vec<String>,
}

/// How it stands with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// Somebody should answer.
    Open,
    /// Somebody has, or enough of them have, and nobody has acted on it yet.
    Answered,
    /// It is over.
    Over(Outcome),
}

/// How a request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered, and the program went on.
    Answered,
    /// Nobody answered in time.
    TimedOut,
    /// Nobody waits any more.
    Cancelled,
}

impl Request {
    /// A request that was just made.
    pub fn new(kind: RequestKind, payload: Value, headers: BTreeMap<String, String>) -> Self {
        Self {
            kind,
            payload,
            headers,
            event_id: 0,
            state: RequestState::Open,
            approvals: Vec::new(),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        self.payload["request_id"].as_str().unwrap_or_default()
    }

    /// Who asks.
    pub fn agent(&self) -> &str {
        self.payload["agent"].as_str().unwrap_or_default()
    }

    /// What people read.
    pub fn prompt(&self) -> &str {
        self.payload["prompt"].as_str().unwrap_or_default()
    }

    /// Who may answer; none: anybody.
    pub fn approvers(&self) -> Vec<&str> {
        let approvers = self.payload["approvers"].as_array().into_iter().flatten();
        approvers.filter_map(Value::as_str).collect()
    }

    /// When it was made.
    pub fn asked_at(&self) -> Option<DateTime<Utc>> {
        moment(self.payload["timestamp"].as_str()?)
    }

    /// Until when there is time to answer.
    pub fn deadline(&self) -> Option<DateTime<Utc>> {
        moment(self.headers.get(headers::DEADLINE)?)
    }

    /// Whether that time is over.
    pub fn is_late(&self, now_ms: i64) -> bool {
        self.deadline()
            .is_some_and(|deadline| deadline.timestamp_millis() <= now_ms)
    }

    /// A header of its record.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// How many people have to agree.
    pub(super) fn quorum(&self) -> usize {
        let metadata = &self.payload["metadata"];
        let quorum = metadata["quorum"].as_u64().or(metadata["n"].as_u64());
        usize::try_from(quorum.unwrap_or(1)).unwrap_or(usize::MAX)
    }

    /// Takes a response, as the program that waits takes it.
    pub(super) fn take(&mut self, response: &Value) {
        if self.state != RequestState::Open {
            return;
        }
        if !self.kind.is_approval() {
            self.state = RequestState::Answered;
            return;
        }
        let reviewer = response["reviewer"].as_str().unwrap_or("unknown");
        let approvers = self.approvers();
        let is_allowed = approvers.is_empty() || approvers.contains(&reviewer);
        if !is_allowed || self.approvals.iter().any(|one| one == reviewer) {
            return;
        }
        self.approvals.push(reviewer.to_owned());
        let is_denied = response["approved"] != Value::Bool(true);
        if is_denied || self.approvals.len() >= self.quorum() {
            self.state = RequestState::Answered;
        }
    }
}

fn moment(text: &str) -> Option<DateTime<Utc>> {
    let moment = DateTime::parse_from_rfc3339(text).ok()?;
    Some(moment.to_utc())
}
