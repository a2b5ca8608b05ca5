//! Events as they are stored and as they are read, where the two differ: lists that become longer
//! with each iteration. See [`IterationInfo`](crate::IterationInfo).

use crate::event::AgentEvent;
use crate::record::RecordedEvent;
use crate::types::SessionLists;

/// The lists of one session as the records that were stored have them.
#[derive(Debug, Default)]
pub(crate) struct StoredLists(SessionLists);

impl StoredLists {
    /// What is stored of an event; `None`: what it says.
    pub(crate) fn stored(&self, event: &AgentEvent) -> Option<AgentEvent> {
        let AgentEvent::IterationEnd {
            session_id,
            iteration,
            iteration_info,
        } = event
        else {
            return None;
        };
        Some(AgentEvent::IterationEnd {
            session_id: session_id.clone(),
            iteration: *iteration,
            iteration_info: self.0.stored(iteration_info)?,
        })
    }

    /// An event was stored, or could not be: then the next one is stored whole, so that readers
    /// miss nothing but what is missing.
    pub(crate) fn settle(&mut self, event: &AgentEvent, is_stored: bool) {
        if let AgentEvent::IterationEnd { iteration_info, .. } = event {
            match is_stored {
                true => self.0.remember(iteration_info),
                false => self.0 = SessionLists::default(),
            }
        }
    }
}

impl RecordedEvent {
    /// Makes the lists of a stored event whole. The events of its session come in their order.
    pub fn complete(&mut self, lists: &mut SessionLists) {
        let event = match self {
            Self::Known(event) => event,
            Self::Adapted(adapted) => &mut adapted.event,
            Self::Opaque(_) => return,
        };
        if let AgentEvent::IterationEnd { iteration_info, .. } = event {
            lists.complete(iteration_info);
        }
    }
}
