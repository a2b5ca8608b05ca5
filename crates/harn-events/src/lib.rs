//! The typed event stream of an agent session.
//!
//! Everything an agent does that somebody outside the loop may need to see is one
//! value, [`AgentEvent`]. The same value feeds protocol servers, scripts, durable
//! logs and replayers.
//!
//! ```text
//! loop, tools, hosts ──emit──► EventBus ──► sinks, observers, loop sink, closures
//!                                 │
//!                                 ├─► JsonlEventSink ──► event_log-….jsonl ──► load_directory
//!                                 └─► EventLogSink ────► an event log
//! ```
//!
//! Within a session all readers see all events in one order. Readers may emit,
//! fail, panic or be slow; none of it reaches the loop. Nothing is lost without
//! being counted.
//!
//! ```
//! use std::sync::Arc;
//! use harn_events::{AgentEvent, AgentEventSink, EventBus};
//!
//! struct Printer;
//! impl AgentEventSink for Printer {
//!     fn handle_event(&self, event: &AgentEvent) {
//!         println!("{}", serde_json::to_string(event).expect("events are plain JSON"));
//!     }
//! }
//!
//! let bus = EventBus::default();
//! let _registered = bus.register("session-1", Arc::new(Printer));
//! bus.emit(&AgentEvent::AgentMessageChunk {
//!     session_id: "session-1".into(),
//!     content: "Hello.".into(),
//! });
//! ```
//!
//! What this crate leaves to others: deciding when to emit (the agent runtime),
//! storing records for more than one machine (the event log), and every wire
//! format but its own JSON (the protocol crates).

// What an event is.
mod define;
mod event;
mod shape;
mod types;
mod wire;

// How it is read and written.
pub mod catalogue;
mod compat;
mod decode;
mod host;
mod raw;
mod record;
mod redact;
mod spread;
mod stored_lists;

// How it travels.
mod ambient;
mod block;
mod brackets;
mod bus;
mod clock;
mod contain;
pub mod default_bus;
mod lock;
mod queued;
mod sink;

#[cfg(doctest)]
mod book;

// How it is kept.
mod jsonl;
mod log_sink;
mod projector;

pub use brackets::{Admission, Ending, OpenBrackets, OpenCall};
pub use bus::{
    AgentEventSubscriber, BusConfig, BusHealth, CloseSession, ContextGuard, DEFAULT_SESSION_CAP,
    DurableSinks, EventBus, HitlWait, HostEmitError, HostIssue, HostIssueKind, InboxItem,
    InboxSource, LoopSinkGuard, ObserverGuard, OpenSessionError, RedactionGuard, RunGuard,
    SessionEndHook, SessionEndHookGuard, SessionHealth, SinkGuard, SubscriberCall, SubscriberError,
    SubscriberFuture, SubscriberOutcome, SubscriptionId, WildcardSinkHandle,
};
pub use clock::{Clock, ManualClock, SystemClock};
pub use compat::Adaptation;
pub use decode::{DecodeError, Mode};
pub use default_bus::{
    clear_session_sinks, current_agent_session_id, current_policy, default_bus,
    drain_global_pending_feedback, drain_pending_feedback, emit_agent_event, emit_agent_event_sync,
    emit_event, flush_and_clear_session_sinks, flush_session_sinks, mirror_session_sinks,
    push_pending_feedback, push_pending_feedback_global, register_session_end_hook, register_sink,
    register_wildcard_sink, reset_all_sinks, scope_agent_event_sink,
    session_closure_subscriber_count, session_external_sink_count, session_has_external_sink,
    unregister_wildcard_sink,
};
pub use event::AgentEvent;
pub use host::HostPayloadError;
pub use jsonl::{
    Damage, FileSystem, InferredEnd, IterationBase, JsonlDirectory, JsonlEventSink, JsonlOptions,
    LoadError, LoadReport, LoadedLog, ReadSeek, RunStart, SegmentFile, SessionLog, Storage,
    load_directory, load_file, session_file_name, session_id_of_file_name,
};
pub use log_sink::{
    AGENT_EVENTS_TOPIC_PREFIX, AgentEventLog, EventLogSink, EventPayload, EventRecord, LogFailure,
    SESSION_HEADER, agent_events_topic, event_of_log_record, sanitize_topic_component,
};
pub use projector::DurableAgentEventProjector;
pub use queued::{OverflowPolicy, QueueHealth, QueueOptions, QueuedSink};
pub use raw::RawObject;
pub use record::{
    AdaptedEvent, FlatEvent, OpaqueEvent, PersistedAgentEvent, Record, RecordedEvent, StoredRecord,
};
pub use redact::{
    Completeness, KnownSecret, KnownSecrets, REDACTED, RedactionPolicy, SecretSource,
    StreamRedactor, is_secret_variable,
};
pub use sink::{
    AgentEventSink, AgentEventSinkError, AgentEventSinkFlush, DurableHealth, EmissionFrame,
    EventGap, Kept, MultiSink,
};
pub use spread::spread_payload;
pub use types::{
    AgentEventLogPayload, CompactReport, CompositionChildCall, CompositionChildResult,
    CompositionFailureCategory, CompositionRunEnvelope, EffectKind, EffectRecord, EffectScope,
    FsWatchEvent, HandoffArtifact, HandoffBudgetRemainingRecord, HandoffDeadlineCheckbackRecord,
    HandoffEvidenceRefRecord, HandoffReceiptLinkRecord, HandoffRouteDecisionRecord,
    HandoffTargetRecord, InvalidTransition, IterationInfo, LogEvent, MountMode, MountedRoot,
    MutationSessionRecord, NameList, SessionLists, SideEffectLevel, SystemReminder,
    ToolAnnotations, ToolApprovalPolicy, ToolArgSchema, ToolCallErrorCategory, ToolCallReceipt,
    ToolCallStatus, ToolDependencyRangeParams, ToolExecutor, ToolKind, WorkerEvent,
    WorkerLifecycle, WorkerStatus, WorkspaceAnchor, has_partial_list,
};
