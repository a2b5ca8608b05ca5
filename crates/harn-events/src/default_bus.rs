//! The process-default bus and the functions in front of it.
//!
//! Embedders and hosts know the stream by these functions. They hold no state of
//! their own: each is one call on the one bus below, which is the only mutable
//! static of this crate.

use std::future::Future;
use std::sync::{Arc, LazyLock};

use crate::bus::{EventBus, InboxSource, LoopSinkGuard, SessionEndHook, WildcardSinkHandle};
use crate::event::AgentEvent;
use crate::redact::RedactionPolicy;
use crate::sink::{AgentEventSink, AgentEventSinkError};

/// The one process-wide bus. Whatever can take a bus as an argument does.
static DEFAULT_BUS: LazyLock<EventBus> = LazyLock::new(EventBus::default);

/// The bus behind the functions of this module.
pub fn default_bus() -> &'static EventBus {
    &DEFAULT_BUS
}

/// Adds a sink to a session.
pub fn register_sink(session_id: impl Into<String>, sink: Arc<dyn AgentEventSink>) {
    default_bus().register_sink(session_id, sink);
}

/// Removes the sinks of a session; the session itself and its closures stay.
pub fn clear_session_sinks(session_id: &str) {
    default_bus().clear_session_sinks(session_id);
}

/// Removes every sink of every session and clears the session store. For tests.
pub fn reset_all_sinks() {
    default_bus().reset();
}

/// Delivers an event. Closures see it at the next point where they can be awaited.
pub fn emit_event(event: &AgentEvent) {
    default_bus().emit(event);
}

/// Delivers an event where the interpreter cannot be awaited, for instance per
/// streamed delta.
pub fn emit_agent_event_sync(event: &AgentEvent) {
    default_bus().emit(event);
}

/// Delivers an event and awaits the session's closures.
pub async fn emit_agent_event(event: &AgentEvent) {
    default_bus().emit_and_await(event).await;
}

/// How many sinks are registered for the session.
pub fn session_external_sink_count(session_id: &str) -> usize {
    default_bus().session_sink_count(session_id)
}

/// How many closures the session has.
pub fn session_closure_subscriber_count(session_id: &str) -> usize {
    default_bus().subscriber_count(session_id)
}

/// Adds a reader of every session, called after each session's own sinks.
pub fn register_wildcard_sink(sink: Arc<dyn AgentEventSink>) -> WildcardSinkHandle {
    default_bus().register_wildcard_sink(sink)
}

/// Removes a reader of every session. An unknown handle is ignored.
pub fn unregister_wildcard_sink(handle: WildcardSinkHandle) {
    default_bus().unregister_wildcard_sink(handle);
}

/// Adds the sinks of `source` to `target`, leaving out those it has already.
pub fn mirror_session_sinks(source: &str, target: &str) {
    default_bus().mirror_session_sinks(source, target);
}

/// Whether this very sink is registered for the session.
pub fn session_has_external_sink(session_id: &str, sink: &Arc<dyn AgentEventSink>) -> bool {
    default_bus().session_has_sink(session_id, sink)
}

/// Flushes the session's sinks.
///
/// # Errors
/// The first error; all sinks are flushed in any case.
pub async fn flush_session_sinks(session_id: &str) -> Result<(), AgentEventSinkError> {
    default_bus().flush_session_sinks(session_id).await
}

/// Flushes and then removes the session's sinks, also when flushing failed.
///
/// # Errors
/// The first error of the flush.
pub async fn flush_and_clear_session_sinks(session_id: &str) -> Result<(), AgentEventSinkError> {
    default_bus()
        .flush_and_clear_session_sinks(session_id)
        .await
}

/// The session of the running loop.
pub fn current_agent_session_id() -> Option<String> {
    default_bus().current_session_id()
}

/// Runs a future with `sink` as its loop sink; `None` shadows an outer loop's.
pub fn scope_agent_event_sink<F: Future, S: Into<Option<Arc<dyn AgentEventSink>>>>(
    sink: S,
    future: F,
) -> impl Future<Output = F::Output> + use<F, S> {
    default_bus().scope_loop_sink(sink.into(), future)
}

impl LoopSinkGuard {
    /// Makes `sink` the innermost loop sink of the running task until the guard
    /// is dropped. `None` shadows an outer loop's sink.
    pub fn install(sink: Option<Arc<dyn AgentEventSink>>) -> Self {
        default_bus().install_loop_sink(sink)
    }
}

/// Queues feedback from the loop's own thread.
pub fn push_pending_feedback(session_id: &str, kind: &str, content: &str) {
    default_bus().push_feedback(session_id, kind, content, InboxSource::Loop);
}

/// Queues feedback from any thread.
pub fn push_pending_feedback_global(session_id: &str, kind: &str, content: &str) {
    default_bus().push_feedback(session_id, kind, content, InboxSource::Outside);
}

/// Removes and returns the session's feedback as `(kind, content)`, in push order.
pub fn drain_pending_feedback(session_id: &str) -> Vec<(String, String)> {
    default_bus().drain_feedback(session_id)
}

/// Like [`drain_pending_feedback`], for what was queued from any thread.
pub fn drain_global_pending_feedback(session_id: &str) -> Vec<(String, String)> {
    default_bus().drain_feedback_from(session_id, InboxSource::Outside)
}

/// Calls `hook` with the session id at the end of every run.
pub fn register_session_end_hook(hook: SessionEndHook) {
    default_bus().register_session_end_hook(hook);
}

/// The redaction policy in force.
pub fn current_policy() -> Arc<RedactionPolicy> {
    default_bus().redaction_policy()
}
