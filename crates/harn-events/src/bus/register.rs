//! Sinks, observers and policies coming and going.

use std::sync::{Arc, Weak};

use super::reader::Reader;
use super::{EventBus, Inner, session};
use crate::lock::RecoverShared;
use crate::redact::RedactionPolicy;
use crate::sink::{AgentEventSink, AgentEventSinkError};

impl EventBus {
    /// Adds a sink to a session until the guard is dropped. The same sink may be
    /// registered for several sessions; registered twice, it is called twice.
    #[must_use = "the sink is removed when the guard is dropped"]
    pub fn register(
        &self,
        session_id: impl Into<String>,
        sink: Arc<dyn AgentEventSink>,
    ) -> SinkGuard {
        let session_id = session_id.into();
        let id = self.add_sink(&session_id, sink);
        SinkGuard {
            bus: Arc::downgrade(&self.inner),
            session_id,
            id,
        }
    }

    /// Adds a sink to a session until the session's sinks are cleared or it is closed.
    pub fn register_sink(&self, session_id: impl Into<String>, sink: Arc<dyn AgentEventSink>) {
        self.add_sink(&session_id.into(), sink);
    }

    fn add_sink(&self, session_id: &str, sink: Arc<dyn AgentEventSink>) -> u64 {
        let id = self.inner.next_id();
        self.with_session(session_id, |session| {
            Arc::make_mut(&mut session.sinks).push(Reader::new(id, sink));
        });
        id
    }

    /// Removes the sinks registered for a session. The session, its durable sink,
    /// its closures and its inbox stay.
    pub fn clear_session_sinks(&self, session_id: &str) {
        self.update_session(session_id, |session| std::mem::take(&mut session.sinks));
    }

    /// Flushes and then removes the session's sinks, also when flushing failed.
    ///
    /// # Errors
    /// The first error of the flush.
    pub async fn flush_and_clear_session_sinks(
        &self,
        session_id: &str,
    ) -> Result<(), AgentEventSinkError> {
        let outcome = self.flush_session_sinks(session_id).await;
        self.clear_session_sinks(session_id);
        outcome
    }

    /// How many sinks are registered for the session, its durable one not counted.
    pub fn session_sink_count(&self, session_id: &str) -> usize {
        let sessions = self.inner.shards.lock(session_id);
        let sinks = sessions
            .get(session_id)
            .map(|session| Arc::clone(&session.sinks));
        sinks.map_or(0, |sinks| {
            sinks.iter().filter(|sink| sink.is_attached()).count()
        })
    }

    /// Whether this very sink is registered for the session.
    pub fn session_has_sink(&self, session_id: &str, sink: &Arc<dyn AgentEventSink>) -> bool {
        let sessions = self.inner.shards.lock(session_id);
        sessions
            .get(session_id)
            .is_some_and(|session| session.sinks.iter().any(|other| is_same(&other.sink, sink)))
    }

    /// Adds the sinks of `source` to `target`, leaving out those it has already.
    /// Does nothing when either id is empty or both are the same.
    pub fn mirror_session_sinks(&self, source: &str, target: &str) {
        if source.is_empty() || target.is_empty() || source == target {
            return;
        }
        let from = {
            let sessions = self.inner.shards.lock(source);
            sessions
                .get(source)
                .map(|session| Arc::clone(&session.sinks))
                .unwrap_or_default()
        };
        for reader in from.iter() {
            if !self.session_has_sink(target, &reader.sink) {
                self.add_sink(target, Arc::clone(&reader.sink));
            }
        }
    }

    /// Adds a reader of every session until the guard is dropped. It is called
    /// after the session's own sinks.
    #[must_use = "the observer is removed when the guard is dropped"]
    pub fn observe(&self, sink: Arc<dyn AgentEventSink>) -> ObserverGuard {
        let handle = self.register_wildcard_sink(sink);
        ObserverGuard {
            bus: Arc::downgrade(&self.inner),
            handle,
        }
    }

    /// Adds a reader of every session until it is unregistered.
    pub fn register_wildcard_sink(&self, sink: Arc<dyn AgentEventSink>) -> WildcardSinkHandle {
        let handle = WildcardSinkHandle(self.inner.next_id());
        let mut observers = self.inner.observers.recover_write();
        Arc::make_mut(&mut observers).push(Reader::new(handle.0, sink));
        handle
    }

    /// Removes a reader of every session. An unknown handle is ignored.
    pub fn unregister_wildcard_sink(&self, handle: WildcardSinkHandle) {
        let mut observers = self.inner.observers.recover_write();
        let removed = session::take_out(&mut observers, |reader| reader.id == handle.0);
        drop(observers);
        drop(removed);
    }

    /// Removes every session with all that belongs to it. Observers, hooks and
    /// loop sinks stay. Meant for tests that share a bus.
    pub fn reset(&self) {
        self.forget_open_sessions();
        for shard in self.inner.shards.all() {
            let removed = shard.take_all();
            drop(removed);
        }
    }

    /// The policy in force: the one pushed last, or the configured one.
    pub fn redaction_policy(&self) -> Arc<RedactionPolicy> {
        let policies = self.inner.policies.recover_read();
        let top = policies.last().map(|(_, policy)| Arc::clone(policy));
        top.unwrap_or_else(|| Arc::clone(&self.inner.configured_policy))
    }

    /// Puts another policy in force until the guard is dropped.
    #[must_use = "the policy is removed when the guard is dropped"]
    pub fn push_redaction_policy(&self, policy: RedactionPolicy) -> RedactionGuard {
        let id = self.inner.next_id();
        self.inner
            .policies
            .recover_write()
            .push((id, Arc::new(policy)));
        RedactionGuard {
            bus: Arc::downgrade(&self.inner),
            id,
        }
    }
}

fn is_same(one: &Arc<dyn AgentEventSink>, other: &Arc<dyn AgentEventSink>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}

/// Removes one registration of a sink when dropped, and no other.
pub struct SinkGuard {
    bus: Weak<Inner>,
    session_id: String,
    id: u64,
}

impl Drop for SinkGuard {
    fn drop(&mut self) {
        let Some(inner) = self.bus.upgrade() else {
            return;
        };
        EventBus { inner }.update_session(&self.session_id, |session| {
            session::take_out(&mut session.sinks, |reader| reader.id == self.id)
        });
    }
}

/// Names a reader of every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WildcardSinkHandle(u64);

/// Removes a reader of every session when dropped.
pub struct ObserverGuard {
    bus: Weak<Inner>,
    handle: WildcardSinkHandle,
}

impl Drop for ObserverGuard {
    fn drop(&mut self) {
        if let Some(inner) = self.bus.upgrade() {
            EventBus { inner }.unregister_wildcard_sink(self.handle);
        }
    }
}

/// Takes a policy out of force when dropped.
pub struct RedactionGuard {
    bus: Weak<Inner>,
    id: u64,
}

impl Drop for RedactionGuard {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            bus.policies
                .recover_write()
                .retain(|(id, _)| *id != self.id);
        }
    }
}
