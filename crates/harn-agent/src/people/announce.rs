//! The events that a session has about its requests to people.

use harn_events::{AgentEvent, HitlWait};

use super::{Outcome, Request};
use crate::event_log::session_events;
use crate::runtime::Runtime;

/// A session asks a person. Until it says what came of it, the session waits; dropped, it says
/// that nobody waits any more.
pub struct AskedPerson(HitlWait);

impl AskedPerson {
    /// Says that a person is asked.
    pub fn ask(runtime: &Runtime, session_id: &str, request: &Request) -> Self {
        let (kind, payload) = (request.kind.name(), request.payload.clone());
        let bus = runtime.bus();
        Self(bus.request_hitl(session_id, request.id(), kind, payload))
    }

    /// Goes on with a request of an earlier process. It is said only once that a person is
    /// asked, so the log of the session decides whether it was.
    pub async fn ask_again(runtime: &Runtime, session_id: &str, request: &Request) -> Self {
        if !was_told(runtime, session_id, request.id()).await {
            return Self::ask(runtime, session_id, request);
        }
        let (id, kind) = (request.id(), request.kind.name());
        Self(runtime.bus().resume_hitl(session_id, id, kind))
    }

    /// Says what came of it.
    pub fn resolve(self, outcome: Outcome) {
        match outcome {
            Outcome::Answered => self.0.answered(),
            Outcome::TimedOut => self.0.timed_out(),
            Outcome::Cancelled => drop(self.0),
        }
    }
}

impl Runtime {
    /// Makes sure that what was said in a session would survive a power cut, and lets its
    /// closures see it then: what anybody has heard of is also known to whoever reads the log
    /// of a process that was killed.
    pub async fn settle_session(&self, session_id: &str) {
        if let Some(keeper) = self.keeper() {
            // A log that does not work was reported by whoever writes it.
            let _not_kept = keeper.sync().await;
        }
        self.bus().deliver_to_subscribers(session_id).await;
    }
}

/// Whether the log of a session says that a person was asked.
async fn was_told(runtime: &Runtime, session_id: &str, request_id: &str) -> bool {
    let Some(log) = runtime.keeper().and_then(|keeper| keeper.log()) else {
        return false;
    };
    let events = session_events(&**log, session_id).await.unwrap_or_default();
    events.iter().any(|(_, record)| match record.event() {
        Some(AgentEvent::HitlRequested { request_id: id, .. }) => id == request_id,
        _ => false,
    })
}
