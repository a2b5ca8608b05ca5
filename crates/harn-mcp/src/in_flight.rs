//! Which sessions wait for a server, so that what it says can be told to the right one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::ProgressToken;

/// The calls that a server has not answered yet.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<ProgressToken, Option<String>>>);

/// A call that is in flight until this is dropped.
pub(crate) struct Waiting<'a> {
    calls: &'a InFlight,
    token: ProgressToken,
}

impl InFlight {
    /// A session waits.
    pub(crate) fn begin(&self, token: ProgressToken, session_id: Option<String>) -> Waiting<'_> {
        self.lock().insert(token.clone(), session_id);
        Waiting { calls: self, token }
    }

    /// The session that a notice about the progress of a call is for.
    pub(crate) fn session_of(&self, token: &ProgressToken) -> Option<String> {
        self.lock().get(token).cloned().flatten()
    }

    /// The session that waits, if there is only one.
    pub(crate) fn only_session(&self) -> Option<String> {
        let calls = self.lock();
        let mut sessions = calls.values().flatten();
        let first = sessions.next()?;
        sessions.all(|other| other == first).then(|| first.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProgressToken, Option<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.token);
    }
}
