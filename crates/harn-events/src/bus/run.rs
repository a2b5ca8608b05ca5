//! What has to happen at the end of a run, however it ends.
//!
//! A run that returns, fails or is cancelled leaves its brackets closed and has
//! its session-end hooks called once. That cannot depend on the loop reaching
//! its last line, so it hangs on guards.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use serde_json::Value;

use super::{EventBus, Inner};
use crate::brackets::Ending;
use crate::event::AgentEvent;
use crate::lock::Recover;

/// Called with the session id when a run ends.
pub type SessionEndHook = Arc<dyn Fn(&str) + Send + Sync>;

/// The registered hooks in order.
pub(super) type Hooks = Vec<(u64, SessionEndHook)>;

impl EventBus {
    /// Marks a session as active until the guard is finished or dropped.
    pub fn begin_run(&self, session_id: &str) -> RunGuard {
        let opening = self.inner.open.recover().begin_use(session_id);
        let (generation, abandonments) = self.with_session(session_id, |session| {
            session.brackets.begin_run();
            session.active_runs += 1;
            (session.generation, session.abandonments)
        });
        RunGuard {
            bus: self.clone(),
            session_id: session_id.to_owned(),
            opening,
            generation,
            abandonments,
            is_over: false,
        }
    }

    /// Somebody has cancelled the run of a session: its open calls end now, as cancelled,
    /// whatever the tools still do. The run ends when it notices.
    pub fn cancel_calls(&self, session_id: &str) {
        self.update_session(session_id, |session| session.brackets.cancel_run());
        self.close_abandoned_calls(session_id);
    }

    /// The runs of a session do not end although they were cancelled. What they have opened is
    /// closed for them, and their end, should it come, closes nothing of a later run.
    pub fn abandon_runs(&self, session_id: &str) {
        self.update_session(session_id, |session| session.brackets.cancel_run());
        self.emit_closings(session_id, Ending::RunEnded("cancelled"));
        self.update_session(session_id, |session| {
            session.abandonments += 1;
            session.active_runs = 0;
        });
    }

    /// Closes the calls a broken model stream has announced and will never deliver.
    pub fn close_aborted_calls(&self, session_id: &str) {
        self.emit_closings(session_id, Ending::StreamFailed);
    }

    /// Closes the calls and searches that are open when a run is about to pass its last seam,
    /// because nothing may follow that.
    pub fn close_abandoned_calls(&self, session_id: &str) {
        let closings = self.update_session(session_id, |session| {
            let ending = Ending::RunEnded("abandoned");
            session.brackets.closings(session_id, ending)
        });
        let of_calls = closings.into_iter().flatten().filter(|event| {
            matches!(
                event,
                AgentEvent::ToolCallUpdate { .. } | AgentEvent::ToolSearchResult { .. }
            )
        });
        for event in of_calls {
            self.emit(&event);
        }
    }

    /// Calls `hook` at the end of every run, for the life of the bus.
    pub fn register_session_end_hook(&self, hook: SessionEndHook) {
        self.add_hook(hook);
    }

    /// Calls `hook` at the end of every run until the guard is dropped.
    #[must_use = "the hook is removed when the guard is dropped"]
    pub fn session_end_hook(&self, hook: SessionEndHook) -> SessionEndHookGuard {
        SessionEndHookGuard {
            id: self.add_hook(hook),
            bus: Arc::downgrade(&self.inner),
        }
    }

    fn add_hook(&self, hook: SessionEndHook) -> u64 {
        let id = self.inner.next_id();
        self.inner.hooks.recover().push((id, hook));
        id
    }

    /// Publishes a request to a person. Whatever becomes of the wait, it is
    /// resolved exactly once.
    pub fn request_hitl(
        &self,
        session_id: &str,
        request_id: &str,
        kind: &str,
        payload: Value,
    ) -> HitlWait {
        let event = AgentEvent::HitlRequested {
            session_id: session_id.to_owned(),
            request_id: request_id.to_owned(),
            kind: kind.to_owned(),
            payload,
        };
        self.emit(&event);
        self.hitl_wait(session_id, request_id, kind)
    }

    /// Goes on with a request to a person that an earlier process has published. It is not
    /// published again, and resolved exactly once like any other.
    pub fn resume_hitl(&self, session_id: &str, request_id: &str, kind: &str) -> HitlWait {
        self.update_session(session_id, |session| {
            session.brackets.reopen_question(request_id, kind);
        });
        self.hitl_wait(session_id, request_id, kind)
    }

    fn hitl_wait(&self, session_id: &str, request_id: &str, kind: &str) -> HitlWait {
        HitlWait {
            bus: self.clone(),
            generation: self.update_session(session_id, |session| session.generation),
            session_id: session_id.to_owned(),
            request_id: request_id.to_owned(),
            kind: kind.to_owned(),
            outcome: "cancelled",
        }
    }

    fn emit_closings(&self, session_id: &str, ending: Ending<'_>) {
        let closings = self.update_session(session_id, |session| {
            session.brackets.closings(session_id, ending)
        });
        for event in closings.into_iter().flatten() {
            self.emit(&event);
        }
    }

    /// Runs the hooks from a copy, so that a hook may register another.
    fn run_hooks(&self, session_id: &str) {
        let hooks = self.inner.hooks.recover().clone();
        for (_, hook) in hooks {
            if catch_unwind(AssertUnwindSafe(|| hook(session_id))).is_err() {
                self.inner
                    .counters
                    .hook_panics
                    .fetch_add(1, Ordering::Relaxed);
                tracing::warn!(target: "agent.session_end", session_id, "a session-end hook panicked");
            }
        }
    }
}

/// A run in progress. Ending it, in whatever way, closes the iteration and the
/// calls it left open, passes the last seam and calls the session-end hooks.
pub struct RunGuard {
    bus: EventBus,
    session_id: String,
    /// The opening of the session it runs in, if it was opened.
    opening: Option<u64>,
    /// The session it runs in; one that was closed and opened again is another.
    generation: u64,
    /// How often the runs of the session had been abandoned when it began.
    abandonments: u64,
    is_over: bool,
}

impl RunGuard {
    /// The run came to an end by itself, or failed for this reason. A run that
    /// closed everything it opened adds nothing to the stream here.
    pub fn finish(mut self, reason: &str) {
        self.end(Some(reason));
    }

    /// The run will be taken up again: hooks are called, calls stay open.
    pub fn suspend(mut self) {
        self.end(None);
    }

    fn end(&mut self, reason: Option<&str>) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let is_ours = self.bus.update_session(&self.session_id, |session| {
            session.generation == self.generation && session.abandonments == self.abandonments
        });
        if is_ours == Some(true) {
            if let Some(reason) = reason {
                self.bus
                    .emit_closings(&self.session_id, Ending::RunEnded(reason));
            }
            self.bus.update_session(&self.session_id, |session| {
                let is_ours = session.generation == self.generation
                    && session.abandonments == self.abandonments;
                session.active_runs = session.active_runs.saturating_sub(u32::from(is_ours));
            });
        }
        if let Some(opening) = self.opening {
            let mut open = self.bus.inner.open.recover();
            open.end_use(&self.session_id, opening);
        }
        self.bus.run_hooks(&self.session_id);
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.end(Some("cancelled"));
    }
}

/// Removes a session-end hook when dropped.
pub struct SessionEndHookGuard {
    bus: Weak<Inner>,
    id: u64,
}

impl Drop for SessionEndHookGuard {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            let mut hooks = bus.hooks.recover();
            let removed: Vec<_> = hooks.extract_if(.., |(id, _)| *id == self.id).collect();
            drop(hooks);
            drop(removed);
        }
    }
}

/// An open request to a person. Dropping it resolves the request as cancelled,
/// for the session it was made in.
pub struct HitlWait {
    bus: EventBus,
    session_id: String,
    request_id: String,
    kind: String,
    outcome: &'static str,
    /// The session that holds the request, if one does.
    generation: Option<u64>,
}

impl HitlWait {
    /// The person answered.
    pub fn answered(mut self) {
        self.outcome = "answered";
    }

    /// Nobody answered in time.
    pub fn timed_out(mut self) {
        self.outcome = "timeout";
    }
}

impl HitlWait {
    /// Whether the session has closed, and has resolved the request then.
    fn is_resolved(&self) -> bool {
        let Some(generation) = self.generation else {
            return false;
        };
        let is_open = self.bus.update_session(&self.session_id, |session| {
            let mut questions = session.brackets.questions();
            session.generation == generation && questions.any(|(id, _)| id == self.request_id)
        });
        is_open != Some(true)
    }
}

impl Drop for HitlWait {
    fn drop(&mut self) {
        if self.is_resolved() {
            return;
        }
        self.bus.emit(&AgentEvent::HitlResolved {
            session_id: std::mem::take(&mut self.session_id),
            request_id: std::mem::take(&mut self.request_id),
            kind: std::mem::take(&mut self.kind),
            outcome: self.outcome.to_owned(),
        });
    }
}
