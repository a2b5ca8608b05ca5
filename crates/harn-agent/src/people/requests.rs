//! The requests that a log knows of.

use std::collections::{BTreeMap, HashMap};

use harn_log::{AnyEventLog, EventId, EventLog, LogError, LogEvent, Topic};
use serde_json::Value;

use super::request::{Outcome, Request, RequestState};
use super::{RESPONDED, RESUMED, RequestKind, headers};

/// So many records are read at a time.
const BATCH: usize = 512;

/// Where the log keeps waitpoints. Every request is one.
const WAITPOINTS: &str = "waitpoints";

/// The requests that a log knows of. Each record is read once.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// The last record of each topic that was read.
    cursors: BTreeMap<&'static str, EventId>,
    requests: HashMap<String, Request>,
}

impl Requests {
    /// Reads what is new in a log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn read(&mut self, log: &AnyEventLog) -> Result<(), LogError> {
        for kind in RequestKind::ALL {
            self.read_topic(log, kind.topic(), |requests, id, event| {
                requests.apply(kind, id, event);
            })
            .await?;
        }
        self.read_topic(log, WAITPOINTS, |requests, _, event| requests.end(&event))
            .await
    }

    /// The last record about requests of a kind that was read; 0: none.
    pub fn cursor(&self, kind: RequestKind) -> EventId {
        self.cursors.get(kind.topic()).copied().unwrap_or(0)
    }

    /// A request, whatever has become of it.
    pub fn get(&self, id: &str) -> Option<&Request> {
        self.requests.get(id)
    }

    /// All requests, the oldest first.
    pub fn all(&self) -> Vec<&Request> {
        let mut all: Vec<&Request> = self.requests.values().collect();
        all.sort_by_key(|request| (request.asked_at(), request.kind.name(), request.event_id));
        all
    }

    /// Those that somebody should answer, the oldest first.
    pub fn open(&self, now_ms: i64) -> Vec<&Request> {
        let mut open = self.all();
        open.retain(|request| request.state == RequestState::Open && !request.is_late(now_ms));
        open
    }

    async fn read_topic(
        &mut self,
        log: &AnyEventLog,
        name: &'static str,
        mut apply: impl FnMut(&mut Self, EventId, LogEvent),
    ) -> Result<(), LogError> {
        let topic = Topic::new(name)?;
        loop {
            let cursor = self.cursors.get(name).copied();
            let events = log.read_range(&topic, cursor, BATCH).await?;
            let count = events.len();
            for (id, event) in events {
                self.cursors.insert(name, id);
                apply(self, id, event);
            }
            if count < BATCH {
                return Ok(());
            }
        }
    }

    fn apply(&mut self, kind: RequestKind, event_id: EventId, event: LogEvent) {
        let Some(id) = event.payload["request_id"].as_str().map(str::to_owned) else {
            return;
        };
        if event.kind == kind.asked() {
            let mut request = Request::new(kind, event.payload, event.headers);
            request.event_id = event_id;
            self.requests.entry(id).or_insert(request);
            return;
        }
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        match &*event.kind {
            RESPONDED => request.take(&event.payload),
            RESUMED => {
                let process = event.headers.get(headers::PROCESS).cloned();
                let process = process.unwrap_or_default();
                request.headers.insert(headers::PROCESS.to_owned(), process);
            }
            "hitl.timeout" => request.state = RequestState::Over(Outcome::TimedOut),
            "hitl.approval_approved"
            | "hitl.approval_denied"
            | "hitl.dual_control_approved"
            | "hitl.dual_control_denied"
            | "hitl.dual_control_executed"
            | "hitl.escalation_accepted" => request.state = RequestState::Over(Outcome::Answered),
            // Others may write here what we do not know yet.
            _ => {}
        }
    }

    /// A waitpoint has ended, which ends its request unless that is over already.
    fn end(&mut self, event: &LogEvent) {
        let id = event.payload["id"].as_str().unwrap_or_default();
        let Some(request) = self.requests.get_mut(id) else {
            return;
        };
        if matches!(request.state, RequestState::Over(_)) {
            return;
        }
        request.state = match &*event.kind {
            "waitpoint.cancelled" => RequestState::Over(Outcome::Cancelled),
            // Who completes a waitpoint with a value answers; without one, the program has
            // gone on.
            "waitpoint.completed" => match &event.payload["value"] {
                Value::Null => RequestState::Over(Outcome::Answered),
                _ => RequestState::Answered,
            },
            _ => return,
        };
    }
}
