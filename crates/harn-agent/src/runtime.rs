//! What all sessions of one program share.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, Clock, CloseSession, DurableSinks, EventBus,
    MutationSessionRecord, SessionEndHookGuard,
};
use harn_llm::Category;
use harn_llm::desk::{Desk, Thrown};
use harn_log::AnyEventLog;
use serde_json::{Map, Value};

use crate::ambient::Level;
use crate::background::Spawn;
use crate::callback::Functions;
use crate::calls_in_flight::CallsInFlight;
use crate::coding::DEFAULT_PATH;
use crate::command_gate::{CommandGate, CommandRules};
use crate::daemons::Daemons;
use crate::fence::{Fence, Fenced};
use crate::host::HostBridge;
use crate::keeper::{Keeper, KeptSessions, OpenLog, OpenProofs};
use crate::long_running::LongRunning;
use crate::loop_result::LoopResult;
use crate::mailbox::Mailbox;
use crate::people::Asking;
use crate::policy::{ApprovalPolicy, CapabilityPolicy, Permissions};
use crate::protected_paths::{ProtectedPaths, SourceFiles};
use crate::registry::ToolRegistry;
use crate::run::Pause;
use crate::session::{CannotOpen, Session, SessionStore};
use crate::skills::{SkillLibrary, SkillSetup};
use crate::tool::Tool;
use crate::tool_callers::ToolCallers;
use crate::tool_hooks::{Hook, HookChain};
use crate::tool_servers::{ApprovedTools, Pool, ServerConfig, ToolPins, ToolServers};
use crate::watching::Watching;
use crate::workers::{WorkerPlaces, Workers};

/// What all sessions of one program share: whom to ask, whom to tell, and the sessions.
pub struct Runtime {
    pub(crate) desk: Arc<Desk>,
    pub(crate) bus: EventBus,
    pub(crate) keeper: Option<Arc<Keeper>>,
    pub(crate) bridge: Option<Arc<dyn HostBridge>>,
    /// Where relative paths start.
    pub(crate) folder: PathBuf,
    /// Calls that can be stopped.
    pub(crate) calls_in_flight: CallsInFlight,
    environment: BTreeMap<String, String>,
    /// What the tools and options of a program may touch.
    pub(crate) fence: Fenced,
    /// What care has to be taken with.
    pub(crate) protected: ProtectedPaths,
    command_rules: Option<Arc<dyn CommandRules>>,
    /// What is known about skills.
    pub(crate) skills: SkillSetup,
    /// The skills that were discovered, with those that the host has now.
    library: Mutex<Arc<SkillLibrary>>,
    sessions: Mutex<SessionStore>,
    hooks: Mutex<HookChain>,
    /// Where work goes on by itself; `None`: where this is run.
    pub(crate) spawner: Option<Arc<dyn Spawn>>,
    /// What tools have begun that answered at once.
    pub(crate) long_running: Arc<LongRunning>,
    /// Cancels those of a session whose loop has ended.
    _cancels_operations: SessionEndHookGuard,
    /// The calls that functions of programs are busy with.
    pub(crate) tool_callers: ToolCallers,
    /// The servers that lend tools.
    pub(crate) servers: Pool,
    /// The tools of servers that were approved.
    pub(crate) approved_tools: ApprovedTools,
    /// How people are asked for those who cannot ask by themselves.
    pub(crate) asking: Asking,
    /// The daemons that were started.
    pub(crate) daemons: Daemons,
    /// The workers that were started.
    pub(crate) workers: Workers,
    /// What holds inside the loops that run, by session; the innermost last.
    running: Mutex<BTreeMap<String, Vec<Ambient>>>,
    /// What held inside loops that have ended, oldest first, where anything was limited.
    ended: Mutex<VecDeque<(String, Ambient)>>,
}

/// How many loops that have ended are remembered for the tasks that outlive them.
const ENDED_MAX: usize = 256;

/// How a runtime is made.
#[derive(Default)]
pub struct RuntimeOptions {
    /// Where sessions and their events are kept; `None`: nowhere.
    pub log: Option<Arc<AnyEventLog>>,
    /// Opens such a log when the first session begins.
    pub open_log: Option<OpenLog>,
    /// Keeps sessions, if somebody has a keeper for several runtimes. It is used before a log.
    pub keeper: Option<Arc<Keeper>>,
    /// How journals prove who wrote them; a keeper that is given has its own answer.
    pub proofs: Option<OpenProofs>,
    /// The bus events go to; `None`: one of its own.
    pub bus: Option<EventBus>,
    /// The host, if there is one.
    pub bridge: Option<Arc<dyn HostBridge>>,
    /// Where relative paths start; empty: where the process works.
    pub folder: PathBuf,
    /// The variables of the environment; commands of the coding tools find the harmless ones.
    pub environment: BTreeMap<String, String>,
    /// What the tools and options of a program may touch; `None`: everything.
    pub fence: Option<Arc<dyn Fence>>,
    /// The files that the running programs consist of.
    pub sources: SourceFiles,
    /// Knows what command policies of loops say; `None`: loops have none.
    pub command_rules: Option<Arc<dyn CommandRules>>,
    /// Looked at around every tool call and every turn.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Keeps events where no log does.
    pub storage: Option<Arc<dyn DurableSinks>>,
    /// Sees the events of all sessions.
    pub observer: Option<Arc<dyn AgentEventSink>>,
    /// What is known about skills.
    pub skills: SkillSetup,
    /// Where work goes on by itself; `None`: on the executor of whoever asks for it.
    pub spawner: Option<Arc<dyn Spawn>>,
    /// What makes connections to servers of tools; `None`: there are none.
    pub tool_servers: Option<Arc<dyn ToolServers>>,
    /// The servers that are known by name: those of the project and those of the host.
    pub servers: Vec<ServerConfig>,
    /// Remembers which tools of servers were approved; `None`: only this runtime does.
    pub tool_pins: Option<Arc<dyn ToolPins>>,
    /// Where workers are kept between runs.
    pub worker_places: WorkerPlaces,
    /// The session that goes on where its journal ends; all others begin with nothing in them.
    pub resumes: Option<String>,
    /// What the program is called in questions to people that servers ask, where somebody finds
    /// these questions in the log; `None`: nobody does, so no server may ask that way.
    pub asks_as: Option<String>,
}

/// What a loop is asked to do.
#[derive(Clone, Default)]
pub struct LoopRequest {
    /// What the user says.
    pub prompt: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The options, as a program writes them.
    pub options: Map<String, Value>,
    /// The functions among the options.
    pub functions: Functions,
    /// Tools of Rust, besides those in the options.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Sees the events of this loop and of no other.
    pub event_sink: Option<Arc<dyn AgentEventSink>>,
    /// The id of the session if the options do not name one; empty: a new one.
    pub unnamed_session_id: String,
    /// What holds outside of the loop.
    pub ambient: Ambient,
    /// Messages for this loop alone.
    pub mailbox: Option<Arc<dyn Mailbox>>,
    /// What the loop calls itself in messages; `None`: `agent_loop`.
    pub label: Option<&'static str>,
    /// Lets somebody stop it between two turns.
    pub pause: Option<Arc<dyn Pause>>,
}

/// The policies that are in force somewhere. A loop narrows them for what runs inside it.
#[derive(Clone, Default)]
pub struct Ambient {
    /// What tools may do.
    pub policy: Option<CapabilityPolicy>,
    /// What has to be asked for.
    pub approval: Option<ApprovalPolicy>,
    /// Who may call what, level by level.
    pub permissions: Vec<Permissions>,
    /// How many loops are around.
    pub depth: u64,
    /// The policies that those above have narrowed, the outermost first. They stay in force.
    pub outer: Vec<Level>,
    /// Who is held to account for what is changed, if anybody is.
    pub audit: Option<MutationSessionRecord>,
    /// The worker that all of this is a part of.
    pub worker_id: Option<String>,
}

impl Runtime {
    /// Where programs are looked for that commands start.
    pub(crate) fn search_path(&self) -> &str {
        self.environment
            .get("PATH")
            .map_or(DEFAULT_PATH, |path| path)
    }

    /// A runtime without sessions.
    pub fn new(desk: Arc<Desk>, options: RuntimeOptions) -> Arc<Self> {
        let own_keeper = || {
            let open = || options.open_log.map(Keeper::opening);
            let keeper = options.log.map(Keeper::new).or_else(open)?;
            if let Some(proofs) = options.proofs {
                keeper.prove_with(proofs);
            }
            Some(keeper)
        };
        let keeper = options.keeper.or_else(own_keeper);
        let mut hooks = HookChain::default();
        options.hooks.into_iter().for_each(|hook| hooks.add(hook));
        let bus = options.bus.unwrap_or_else(|| {
            let otherwise = options.storage;
            let durable = match keeper.clone() {
                Some(keeper) => Some(Arc::new(KeptSessions { keeper, otherwise }) as _),
                None => otherwise,
            };
            EventBus::new(BusConfig {
                clock: Arc::new(DeskClock(Arc::clone(&desk))),
                durable,
                ..BusConfig::default()
            })
        });
        if let Some(observer) = options.observer {
            bus.register_wildcard_sink(observer);
        }
        let long_running = Arc::<LongRunning>::default();
        let open = Arc::clone(&long_running);
        let ended = bus.session_end_hook(Arc::new(move |session_id| open.cancel(session_id)));
        let mut sessions = SessionStore::new(bus.clone(), keeper.clone());
        if let Some(id) = options.resumes {
            sessions.set_resumed(id);
        }
        Arc::new(Self {
            long_running,
            _cancels_operations: ended,
            sessions: Mutex::new(sessions),
            calls_in_flight: CallsInFlight::default(),
            desk,
            bus,
            keeper,
            bridge: options.bridge,
            protected: {
                let variable = |name: &str| options.environment.get(name).cloned();
                ProtectedPaths::of(&options.folder, &variable).with_sources(options.sources)
            },
            folder: options.folder,
            environment: options.environment,
            fence: Fenced(options.fence),
            command_rules: options.command_rules,
            library: Mutex::new(Arc::clone(&options.skills.library)),
            skills: options.skills,
            hooks: Mutex::new(hooks),
            spawner: options.spawner,
            tool_callers: ToolCallers::default(),
            servers: Pool::new(options.tool_servers, options.servers),
            approved_tools: ApprovedTools::new(options.tool_pins),
            asking: Asking::new(options.asks_as),
            daemons: Daemons::default(),
            workers: Workers::new(options.worker_places),
            running: Mutex::default(),
            ended: Mutex::default(),
        })
    }

    /// The bus events go to.
    pub fn bus(&self) -> &EventBus {
        &self.bus
    }

    /// Where models are asked.
    pub fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// Where sessions are kept.
    pub fn keeper(&self) -> Option<&Arc<Keeper>> {
        self.keeper.as_ref()
    }

    /// The host, if it runs tools of its own.
    pub(crate) fn lending_host(&self) -> Option<&Arc<dyn HostBridge>> {
        self.bridge.as_ref().filter(|bridge| bridge.lends_tools())
    }

    /// The skills that were discovered.
    pub(crate) fn skill_library(&self) -> Arc<SkillLibrary> {
        let library = self.library.lock();
        Arc::clone(&library.unwrap_or_else(PoisonError::into_inner))
    }

    /// The host has these skills now, and no others. Gives all that are known.
    pub(crate) fn renew_host_skills(&self, told: &[Value]) -> Arc<SkillLibrary> {
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        *library = Arc::new(library.with_host(told));
        Arc::clone(&library)
    }

    /// The sessions.
    pub(crate) fn sessions(&self) -> MutexGuard<'_, SessionStore> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that exists.
    pub fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions().get(id)
    }

    /// Opens a session, or uses the one there is.
    ///
    /// # Errors
    /// There are too many, and all of them have a loop running; or somebody else writes it.
    pub async fn open_session(&self, id: &str) -> Result<Arc<Session>, CannotOpen> {
        let opened = self.sessions().open(id);
        let (session, evicted) = opened?;
        for id in evicted {
            let closing = CloseSession::because("evicted");
            self.bus.close_session_and_await(&id, closing).await;
        }
        Ok(session)
    }

    /// The same for a child, for which there is always room. The session works until
    /// [`SessionStore::release`] is called.
    ///
    /// # Errors
    /// Somebody else writes it.
    pub(crate) async fn open_working_session(&self, id: &str) -> Result<Arc<Session>, CannotOpen> {
        let opened = self.sessions().open_working(id);
        let (session, evicted) = opened?;
        for id in evicted {
            let closing = CloseSession::because("evicted");
            self.bus.close_session_and_await(&id, closing).await;
        }
        Ok(session)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Ambient>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A loop begins: what runs inside it finds these policies.
    pub(crate) fn enter(&self, session_id: &str, ambient: &Ambient) {
        let mut running = self.running();
        let inside = running.entry(session_id.to_owned()).or_default();
        inside.push(ambient.clone());
    }

    /// A loop has ended.
    pub(crate) fn leave(&self, session_id: &str) {
        let mut running = self.running();
        if let Some(inside) = running.get_mut(session_id) {
            let last = inside.pop();
            if inside.is_empty() {
                running.remove(session_id);
                self.remember(session_id, last);
            }
        }
    }

    /// A task that a loop has started may outlive the loop, and must not be free then.
    fn remember(&self, session_id: &str, ambient: Option<Ambient>) {
        let Some(ambient) = ambient.filter(|ambient| !ambient.is_unlimited()) else {
            return;
        };
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|(id, _)| id != session_id);
        if ended.len() == ENDED_MAX {
            ended.pop_front();
        }
        ended.push_back((session_id.to_owned(), ambient));
    }

    fn remembered(&self, session_id: &str) -> Option<Ambient> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut newest_first = ended.iter().rev();
        let (_, ambient) = newest_first.find(|(id, _)| id == session_id)?;
        Some(ambient.clone())
    }

    /// What holds inside the loop of a session. For what a loop has left behind, that is what
    /// held inside it.
    pub fn ambient_in(&self, session_id: Option<&str>) -> Ambient {
        let session_id = session_id.map(|id| self.workers.session_now(id));
        let running = self.running();
        let inside = session_id.and_then(|id| match running.get(&id) {
            Some(inside) => inside.last().cloned(),
            None => self.remembered(&id),
        });
        inside.unwrap_or_default()
    }

    /// Whether a builtin may be called inside the loop of a session. `operation` is what
    /// `host_call` is asked for.
    ///
    /// # Errors
    /// It exceeds the policy.
    pub fn check_builtin(
        &self,
        session_id: &str,
        builtin: &str,
        operation: Option<&str>,
    ) -> Result<(), Thrown> {
        let ambient = self.ambient_in(Some(session_id));
        let checked = ambient.check_builtin(builtin, operation);
        checked.map_err(|text| Thrown::Categorised(Category::ToolRejected, text))
    }

    /// The hooks, as they are now.
    pub(crate) fn hook_chain(&self) -> HookChain {
        self.hooks().clone()
    }

    /// The hooks, to change them.
    pub fn hooks(&self) -> MutexGuard<'_, HookChain> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits.
    pub(crate) async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// A new id.
    pub fn new_id(&self) -> String {
        (self.desk.ports().new_id)()
    }

    /// Milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        (self.desk.ports().now)()
    }

    /// Tells the operator.
    pub(crate) fn warn(&self, category: &str, text: &str) {
        (self.desk.ports().warn)(&format!("{category}: {text}"));
    }

    /// Runs a loop to its end and gives what came of it.
    ///
    /// # Errors
    /// What the program catches: options that are not understood, a model that does not
    /// answer, a callback that throws.
    ///
    /// # Cancel safety
    /// A loop that is dropped closes what it has opened and calls the session-end hooks.
    pub async fn run(self: &Arc<Self>, request: LoopRequest) -> Result<LoopResult, Thrown> {
        let prompt = request.prompt.clone();
        let prepared = crate::run::prepare(self, request)?;
        crate::run::run(self, &prepared, &prompt).await
    }
}

/// The events of a program carry the time that the program knows.
struct DeskClock(Arc<Desk>);

impl Clock for DeskClock {
    fn now_ms(&self) -> i64 {
        (self.0.ports().now)()
    }
}

impl LoopRequest {
    /// A loop about a prompt, with every option as usual.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// With a tool of Rust.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// With an option.
    #[must_use]
    pub fn option(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.options.insert(key.to_owned(), value.into());
        self
    }

    /// With a closure that sees the events of this loop and of no other.
    #[must_use]
    pub fn watch(mut self, see: impl Fn(&AgentEvent) + Send + Sync + 'static) -> Self {
        self.event_sink = Some(Arc::new(Watching(see)));
        self
    }

    /// The tools of the loop: those of the options, then those of Rust.
    pub(crate) fn registry(&self, runtime: &Runtime) -> ToolRegistry {
        let mut registry = ToolRegistry::parse(self.options.get("tools"), &self.functions);
        let host = runtime.bridge.as_deref();
        let rules = runtime.command_rules.as_ref();
        let gate = CommandGate::of(&self.options, &self.functions, rules);
        let protected = &runtime.protected;
        registry.equip(
            &runtime.environment,
            (&runtime.fence, gate),
            host,
            protected,
        );
        for tool in &self.tools {
            registry.add(Arc::clone(tool));
        }
        registry
    }
}
