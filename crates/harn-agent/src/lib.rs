//! How agents run: sessions, tools, policies and the loop.
//!
//! ```text
//! LoopRequest ─► Runtime ─► run, phase by phase ─► Session: journal ─► state
//!                   │                                  │
//!                   └─ Desk: models                    └─► events ─► bus ─► sinks, log
//! ```
//!
//! The page `agents/overview.md` of the book shows an agent, `agents/design.md` how it works
//! inside. The events of a session meet the event log here as well:
//!
//! ```text
//! harn-events ── AgentEvent ──► EventLogSink ──► LoggedSessions ──► harn-log
//! ```
//!
//! The stream of events knows nothing of logs and the log knows nothing of agents;
//! this crate knows both.
//!
//! ```
//! use std::sync::Arc;
//!
//! use harn_agent::{LoggedSessions, session_events};
//! use harn_events::{AgentEvent, BusConfig, EventBus};
//! use harn_log::{AnyEventLog, MemoryEventLog, block_on};
//!
//! let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(128)));
//! let bus = EventBus::new(BusConfig {
//!     durable: Some(Arc::new(LoggedSessions::new(Arc::clone(&log)))),
//!     ..BusConfig::default()
//! });
//! bus.open_session("s")?;
//! bus.emit(&AgentEvent::AgentMessageChunk {
//!     session_id: "s".to_owned(),
//!     content: "Hello".to_owned(),
//! });
//! let events = block_on(session_events(&*log, "s"))?;
//! assert_eq!(events.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ambient;
pub mod artifacts;
mod background;
#[cfg(doctest)]
mod book;
mod builtins;
mod callback;
mod calls_in_flight;
pub mod coding;
mod command_gate;
pub mod compaction;
mod daemons;
mod event_log;
mod fence;
mod frames;
pub mod handoff;
mod host;
mod keeper;
mod known_options;
mod ledger;
mod long_running;
mod loop_detector;
mod loop_options;
mod loop_result;
mod mailbox;
pub mod microcompact;
mod moment;
mod mutation;
mod own_tools;
pub mod people;
mod plan;
pub mod policy;
mod prepared_loop;
mod principal;
pub mod process_guard;
mod progress;
pub mod protected_paths;
pub mod real_path;
mod redact;
mod registry;
mod run;
mod runtime;
pub mod session;
mod shown;
pub mod skills;
mod storage;
mod subscription;
pub mod surface;
#[cfg(test)]
mod testing;
mod tool;
mod tool_callers;
pub mod tool_hooks;
pub mod tool_servers;
pub mod transcript;
pub mod verify;
mod watching;
mod whole_lists;
mod workers;

pub use ambient::Level;
pub use background::Spawn;
pub use builtins::{Asked, worker_surroundings};
pub use callback::{BoxFuture, Callback, Functions};
pub use calls_in_flight::{CallCancelled, CallInFlight, CallsInFlight};
pub use command_gate::CommandRules;
pub use daemons::session_of_daemon;
pub use event_log::{LoggedSessions, session_events};
pub use fence::Fence;
pub use harn_log::create_private_folder;
pub use host::{Elicits, HostBridge, HostError, HostInput, Seam};
pub use keeper::{
    CannotClaim, Keeper, KeptSessions, OpenLog, OpenProofs, Proofs, SessionClaim, describe_owner,
};
pub use ledger::{Deliverable, DeliverableStatus, TaskLedger};
pub use long_running::Operation;
pub use loop_detector::{LoopDetector, LoopThresholds, SkippedCall};
pub use loop_options::{
    DONE_SENTINEL, DaemonOptions, LoopOptions, NativeFallback, RequiredTools, TurnPolicy,
};
pub use loop_result::LoopResult;
pub use mailbox::{Mail, Mailbox};
pub use moment::{rfc3339, rfc3339_seconds};
pub use own_tools::{answer as answer_own_tool, is_own_tool, is_plan_tool};
pub use plan::{PLAN_SCHEMA_VERSION, plan_artifact, plan_entries, render_plan};
pub use prepared_loop::PreparedLoop;
pub use principal::{Principal, PrincipalKind};
pub use redact::RedactLogEvent;
pub use registry::{Backend, Entry, ToolRegistry};
pub use run::Pause;
pub use runtime::{Ambient, LoopRequest, Runtime, RuntimeOptions};
pub use shown::{Showing, Shown};
pub use storage::SessionStorage;
pub use subscription::{Seen, Subscription};
pub use tool::{Declaration, FunctionTool, Tool, ToolCall, ToolError};
pub use whole_lists::WholeLists;
pub use workers::WorkerPlaces;

pub use harn_events as events;
pub use harn_events::AgentEventSink;
pub use harn_llm as llm;
pub use harn_log as log;
pub use harn_log::active_event_log;
