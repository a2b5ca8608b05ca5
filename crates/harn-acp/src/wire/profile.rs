//! What a client wants to be told, and how.

use crate::peer::{ClientFacts, Kinds};

/// What a client wants to be told, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Kinds beyond the protocol that it takes as `session/update`. Every client library in the
    /// field drops an update whose kind it does not know, so nobody gets them unasked.
    update_kinds: Kinds,
    /// Kinds that it takes as `_harn/agentEvent`.
    agent_events: Kinds,
    /// Whether it shows notices.
    pub(super) shows_notices: bool,
    /// Whether it shows that a conversation is shortened.
    pub(super) shows_compaction: bool,
}

impl Profile {
    /// What follows from what the client said in `initialize`.
    pub(crate) fn of(client: &ClientFacts) -> Self {
        Self {
            update_kinds: client.session_update_kinds.clone(),
            agent_events: client.agent_events.clone(),
            shows_notices: client.shows_notices,
            shows_compaction: client.shows_compaction,
        }
    }

    /// Whether a kind beyond the protocol goes as `session/update`.
    pub(super) fn takes_update(&self, kind: &str) -> bool {
        self.update_kinds.contains(kind)
    }

    /// Whether a kind goes as `_harn/agentEvent`.
    pub(super) fn takes_event(&self, kind: &str) -> bool {
        self.agent_events.contains(kind)
    }

    /// Whether it wants to see what may become a call while a model writes it.
    pub(super) fn takes_candidates(&self) -> bool {
        self.takes_update("tool_call")
    }
}
