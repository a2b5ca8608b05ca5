//! Where sessions are stored when nobody says so.

use std::io;
use std::path::Path;
use std::sync::Arc;

use harn_events::{AgentEvent, AgentEventSink, DurableSinks, JsonlDirectory, RedactionPolicy};
use harn_log::{Environment, active_event_log};

use crate::event_log::LoggedSessions;

/// Stores sessions in the active event log; where none is active, in the folder that
/// `HARN_EVENT_LOG_DIR` names, a file each; otherwise nowhere.
pub struct SessionStorage {
    folder: Option<JsonlDirectory>,
}

impl SessionStorage {
    /// Storage as the environment wants it. A relative folder is below `base_dir`.
    pub fn in_environment(base_dir: &Path, environment: &Environment<'_>) -> Self {
        let folder = environment("HARN_EVENT_LOG_DIR");
        let folder = folder.filter(|folder| !folder.trim().is_empty());
        Self {
            folder: folder.map(|folder| JsonlDirectory::new(base_dir.join(folder))),
        }
    }
}

impl DurableSinks for SessionStorage {
    fn open(
        &self,
        session_id: &str,
        redaction: &RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        if let Some(log) = active_event_log() {
            return LoggedSessions::new(log).open(session_id, redaction);
        }
        match &self.folder {
            Some(folder) => folder.open(session_id, redaction),
            None => Ok(Arc::new(Nowhere)),
        }
    }
}

/// Keeps nothing.
pub(crate) struct Nowhere;

impl AgentEventSink for Nowhere {
    fn handle_event(&self, _event: &AgentEvent) {}
}
