//! The ambient facts of a task, as the public sees them.

use std::future::Future;
use std::sync::Arc;

use super::EventBus;
use crate::MutationSessionRecord;
use crate::ambient::{Fact, FactGuard, TaskContext};
use crate::sink::AgentEventSink;

impl EventBus {
    /// Makes `sink` the sink of the running loop until the guard is dropped. It
    /// is called after the session's sinks. `None` shadows an outer loop's sink:
    /// a nested loop never leaks its events upwards.
    pub fn install_loop_sink(&self, sink: Option<Arc<dyn AgentEventSink>>) -> LoopSinkGuard {
        LoopSinkGuard {
            _fact: self.inner.ambient.state(Fact::LoopSink(sink)),
        }
    }

    /// Runs a future as a task of its own with `sink` as its loop sink.
    pub fn scope_loop_sink<F: Future>(
        &self,
        sink: Option<Arc<dyn AgentEventSink>>,
        future: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let context = TaskContext::child_of(self.inner.ambient.current());
        context.state(Fact::LoopSink(sink));
        self.inner.ambient.scope(context, future)
    }

    /// Runs a future as a task of its own: what it states is seen by nobody else,
    /// and what is in force now is in force for it, on every thread it moves to.
    pub fn scope_task<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let context = TaskContext::child_of(self.inner.ambient.current());
        self.inner.ambient.scope(context, future)
    }

    /// Runs a future as a task that a closure has begun, so many closures deep; see
    /// [`SubscriberCall::depth`](super::SubscriberCall::depth).
    pub fn scope_subscriber<F: Future>(
        &self,
        depth: u32,
        future: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let context = TaskContext::child_of(self.inner.ambient.current());
        context.state(Fact::SubscriberDepth(depth));
        self.inner.ambient.scope(context, future)
    }

    /// The session of the running task.
    pub fn current_session_id(&self) -> Option<String> {
        self.inner
            .ambient
            .current()?
            .session()
            .map(|id| id.to_string())
    }

    /// Makes `session_id` the session of the running task until the guard is dropped.
    pub fn enter_session(&self, session_id: &str) -> ContextGuard {
        self.state(Fact::Session(Arc::from(session_id)))
    }

    /// States the interpreter's call depth for events emitted until the guard is dropped.
    pub fn enter_frame(&self, depth: u32) -> ContextGuard {
        self.state(Fact::FrameDepth(depth))
    }

    /// Puts a mutation session in force until the guard is dropped.
    pub fn enter_mutation_session(&self, record: MutationSessionRecord) -> ContextGuard {
        self.state(Fact::MutationSession(Arc::new(record)))
    }

    /// The mutation session in force for the running task.
    pub fn current_mutation_session(&self) -> Option<MutationSessionRecord> {
        let record = self.inner.ambient.current()?.mutation_session()?;
        Some((*record).clone())
    }

    fn state(&self, fact: Fact) -> ContextGuard {
        ContextGuard {
            _fact: self.inner.ambient.state(fact),
        }
    }
}

/// Keeps a loop sink installed. Dropping it removes that sink and no other.
#[must_use = "the sink is removed when the guard is dropped"]
pub struct LoopSinkGuard {
    _fact: FactGuard,
}

/// Keeps a fact about the running task in force.
#[must_use = "the fact ends when the guard is dropped"]
pub struct ContextGuard {
    _fact: FactGuard,
}
