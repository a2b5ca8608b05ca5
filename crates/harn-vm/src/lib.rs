//! Harn for embedders.
//!
//! ```text
//! Program ─► Isolate (harn-machine) + bodies (harn-stdlib)
//!    │            ▲ completions
//!    └─ drive ────┴─ World: clock, chance, files, processes, environment, models
//! ```
//!
//! An embedder names this crate alone: what it needs of the others is passed on under paths
//! that stay. The page `embedding.md` of the book shows all of it at work.

mod agents;
#[cfg(doctest)]
mod book;
mod diagnostic;
mod driver;
pub mod event_log;
mod files;
mod host;
#[cfg(feature = "net")]
mod http;
mod interrupt;
mod json;
mod mcp;
mod models;
mod people;
pub mod policy;
mod process;
mod program;
pub mod project;
mod prompted;
mod replace;
#[cfg(feature = "net")]
mod server;
mod session;
mod skills;
mod stuck;
mod tool_surface;
mod world;

pub use agents::AgentOptions;
pub use diagnostic::{RuntimeError, runtime_error};
pub use driver::{Outcome, drive};
pub use event_log::EventLogOptions;
pub use interrupt::Interrupt;
pub use models::{
    KnownModels, ModelAsker, ModelOptions, NamedText, Rerun, ScenarioUse, TapeUse, Warn, new_id,
};
pub use program::{LoadedProgram, Program, RunOptions};
pub use prompted::{
    AnsweringProgram, MODE, PROJECT_TRUST, PROMPT, Partner, SESSION_ID, Turn, TurnEnd, TurnFailure,
    TurnListener, TurnRunner, answering_pipeline, pipeline_takes,
};
pub use session::{Session, Typed};
pub use skills::{discover_skills, skill_variables};
pub use stuck::WhenStuck;
pub use world::{Announce, Sink, World, WorldOptions, now as now_ms};

pub use harn_agent as agent;
pub use harn_agent::events as agent_events;
pub use harn_agent::llm;
pub use harn_agent::session as agent_sessions;
pub use harn_check::modules;
pub use harn_machine as machine;

/// The bodies of all builtins.
pub fn registry() -> machine::Registry {
    let mut registry = harn_stdlib::registry();
    registry.begin_writing_out();
    models::register(&mut registry);
    agents::register(&mut registry);
    mcp::register(&mut registry);
    skills::register(&mut registry);
    tool_surface::register(&mut registry);
    registry
}
