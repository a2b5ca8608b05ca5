//! What whoever runs a program says about agents.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use harn_agent::events::EventBus;
use harn_agent::protected_paths::SourceFiles;
use harn_agent::tool_servers::{ServerConfig, ToolPins, ToolServers};
use harn_agent::{AgentEventSink, HostBridge, Keeper, OpenLog, OpenProofs, SessionStorage};
use serde_json::Value;

/// What whoever runs a program says about agents.
#[derive(Clone, Default)]
pub struct AgentOptions {
    /// Where sessions are kept that no log keeps; `None`: nowhere.
    pub storage: Option<Arc<SessionStorage>>,
    /// Whether the active event log keeps sessions.
    pub keeps_sessions: bool,
    /// Opens the log that keeps sessions, when the first of them begins; `None`: the active
    /// one does, if it is to.
    pub open_log: Option<OpenLog>,
    /// Keeps sessions, where a host has one keeper for several programs; otherwise each program
    /// has its own.
    pub keeper: Option<Arc<Keeper>>,
    /// How journals prove who wrote them; a keeper that is given has its own answer.
    pub proofs: Option<OpenProofs>,
    /// Sees the events of all sessions.
    pub observer: Option<Arc<dyn AgentEventSink>>,
    /// The bus that events go to and that notes for models come from; `None`: one of the
    /// program's own. A host that uses the functions of the process gives the bus behind them.
    pub bus: Option<EventBus>,
    /// The session that goes on where its journal ends; all others begin with nothing in them.
    pub resumes: Option<String>,
    /// The host, if there is one.
    pub bridge: Option<Arc<dyn HostBridge>>,
    /// What the program is called in questions to people that servers of tools ask, where
    /// somebody finds these questions in the log; `None`: nobody does.
    pub asks_as: Option<String>,
    /// What makes connections to servers of tools; `None`: there are none.
    pub tool_servers: Option<Arc<dyn ToolServers>>,
    /// The servers that are known by name: those of the project and those of the host.
    pub servers: Vec<ServerConfig>,
    /// Remembers which tools of servers were approved; `None`: only the program does.
    pub tool_pins: Option<Arc<dyn ToolPins>>,
    /// Folders of skills that stand before all others.
    pub skill_folders: Vec<PathBuf>,
    /// The variables of the environment that the operator has lent to skills.
    pub skill_variables: Vec<String>,
    /// The files that the running programs consist of. Loading a program adds them.
    pub sources: SourceFiles,
    /// The skills of the host, as it lists them: `{id, name, description, …}` each.
    pub host_skills: Vec<Value>,
}

impl fmt::Debug for AgentOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentOptions")
            .field("keeps_sessions", &self.keeps_sessions)
            .field("opens_log", &self.open_log.is_some())
            .field("has_observer", &self.observer.is_some())
            .field("has_bridge", &self.bridge.is_some())
            .field("servers", &self.servers.len())
            .finish_non_exhaustive()
    }
}
