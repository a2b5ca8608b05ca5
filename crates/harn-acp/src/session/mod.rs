//! One conversation.
//!
//! ```text
//! prompt ─► turn ─► TurnRunner: the program ─► bus ─► log ─► Subscription ─► followers
//!    ▲        │                                 └─► watch: why it ends       │
//!    └────────┴─ answered when the turn has ended and its updates were told ─┘
//! ```
//!
//! The journal of the session is in the log of the project, and so are its settings. Here is
//! only what a conversation needs while somebody takes part in it: who follows it, the turn
//! that runs, and the program, which is loaded with the first turn.
//!
//! While the program is loaded, it alone writes to the journal. Whoever wants to write
//! something else has it put away first: [`TurnRunner::alone`].

mod choices;
mod commands;
mod content;
mod follower;
mod fork;
mod outcome;
mod past;
mod settings;
mod tool_servers;
mod turn;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::agent::events::{AgentEvent, BusConfig, EventBus, SinkGuard};
use harn_vm::agent::session::{CannotResume, Session as Journal, kept};
use harn_vm::agent::tool_servers::ServerConfig;
use harn_vm::agent::{CannotClaim, HostBridge, Keeper, KeptSessions, Principal, SessionClaim};
use harn_vm::{RunOptions, TurnRunner};
use serde_json::{Value, json};

pub use choices::Mode;

pub(crate) use choices::Choices;
pub(crate) use content::Prompt;
pub(crate) use follower::From;
pub(crate) use fork::Fork;
pub(crate) use past::{Past, find, list, remove, title};
pub(crate) use settings::{Place, Settings};
pub(crate) use tool_servers::read as read_tool_servers;

use crate::client::{EditorHost, NETWORK_ANSWER_WITHIN, Peers, SessionFacts};
use crate::error::Refusal;
use crate::peer::Peer;
use crate::server::Server;
use commands::Commands;
use follower::Follower;
use outcome::Watch;
use turn::Running;

/// One conversation.
pub(crate) struct Session {
    pub(crate) id: String,
    server: Arc<Server>,
    /// Writes for the conversation and for its programs, and for no other conversation.
    keeper: Arc<Keeper>,
    /// Nobody else writes it as long as it is open.
    _claim: Option<SessionClaim>,
    /// Its own, so that what happens in other conversations cannot be seen here.
    bus: EventBus,
    watch: Watch,
    _watching: SinkGuard,
    followers: Mutex<Vec<Follower>>,
    /// How often somebody began to follow it.
    visits: AtomicU64,
    /// Those who are about to follow it.
    visitors: AtomicUsize,
    state: Mutex<State>,
    commands: Commands,
    /// Those who can be asked.
    peers: Arc<Peers>,
    /// Asks them, for the program.
    pub(crate) host: Arc<EditorHost>,
}

/// Runs the program.
struct Runner {
    /// Which one it is: one that was abandoned may still say something.
    number: u64,
    turns: Arc<TurnRunner>,
    /// Writes for it; taken away from one that was abandoned.
    keeper: Arc<Keeper>,
    /// The servers of the client that it knows.
    tool_servers: Vec<ServerConfig>,
}

struct State {
    /// Runs the program; started with the first turn.
    runner: Option<Runner>,
    /// How many there were.
    runners: u64,
    /// The turn that runs.
    running: Option<Running>,
    settings: Settings,
    /// Whether the journal has other settings.
    is_unkept: bool,
    /// Whether the client knows what the session is about.
    has_title: bool,
    /// The servers that the client lends.
    tool_servers: Vec<ServerConfig>,
    /// Whether it is closed, or about to be. Nothing begins in it any more.
    is_closed: bool,
}

/// Somebody who is about to follow a session. As long as this lives, the session is not closed
/// because all others have gone; if it ends and they do not follow, it may be.
pub(crate) struct Visit(Arc<Session>);

impl Visit {
    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.0
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let session = &self.0;
        session.visitors.fetch_sub(1, Ordering::SeqCst);
        // At the end of the process there is nobody left to close it.
        let can_wait = tokio::runtime::Handle::try_current().is_ok();
        if can_wait && session.is_deserted() && !session.is_closed() {
            session.server.retain(Arc::clone(session));
        }
    }
}

/// What there was to cancel.
enum Cancelled {
    /// A turn, which stops now.
    Now,
    /// A turn that stops already.
    Before,
    /// Nothing.
    Idle,
}

const CANCEL: &str = "session/cancel";
const IDEMPOTENT: &str = "idempotent";

/// How a keeper claims a session: one that may be known, or one that was just made.
type ClaimSession = fn(&Arc<Keeper>, &str) -> Result<Option<SessionClaim>, CannotClaim>;

/// What a client says about a session that it opens.
pub(crate) struct Opening {
    pub(crate) settings: Settings,
    pub(crate) tool_servers: Vec<ServerConfig>,
    pub(crate) title: Option<String>,
}

impl Session {
    /// A session that begins. It is kept before anybody hears of it.
    ///
    /// # Errors
    /// It cannot be kept.
    pub(crate) async fn create(
        server: &Arc<Server>,
        id: String,
        opening: Opening,
    ) -> Result<Arc<Self>, Refusal> {
        let session = Self::open(server, id, opening, Keeper::claim_new).await?;
        let journal = session.new_journal()?;
        journal.keep(kept::SETTINGS, session.settings().kept());
        session.sync().await?;
        Ok(session)
    }

    /// The journal of a session that was just made.
    ///
    /// # Errors
    /// It cannot be written.
    fn new_journal(&self) -> Result<Arc<Journal>, Refusal> {
        let claim = self.keeper.claim_new(&self.id);
        let claim = claim.map_err(|cause| Refusal::unclaimed(&self.id, &cause))?;
        Ok(Journal::open(&self.id, &self.bus, claim))
    }

    /// A session that is in the log, or about to be. `claim` is how a keeper claims such a one.
    ///
    /// # Errors
    /// Somebody else writes it, or looking for its skills failed.
    pub(crate) async fn open(
        server: &Arc<Server>,
        id: String,
        opening: Opening,
        claim: ClaimSession,
    ) -> Result<Arc<Self>, Refusal> {
        let keeper = server.keeper.lend_apart(&id);
        let claim = claim(&keeper, &id).map_err(|cause| Refusal::unclaimed(&id, &cause))?;
        let options = run_options(server, &opening.settings.cwd);
        let program = server.options.program.path.clone();
        let commands = tokio::task::spawn_blocking(move || Commands::discover(&options, &program));
        let commands = commands.await;
        let commands = commands.map_err(|_| Refusal::internal("looking for skills failed"))?;
        let bus = EventBus::new(BusConfig {
            durable: Some(Arc::new(KeptSessions {
                keeper: Arc::clone(&keeper),
                otherwise: None,
            })),
            ..BusConfig::default()
        });
        if let Err(error) = bus.open_session(&id) {
            tracing::warn!(target: "acp", session_id = id, %error, "events are not kept");
        }
        let peers = Peers::new(server.options.retain);
        let host = EditorHost::new(
            host_facts(server, &id, &opening.settings, &bus),
            Arc::clone(&peers),
        );
        let watch = Watch::default();
        Ok(Arc::new(Self {
            _watching: bus.register(id.clone(), Arc::new(watch.clone())),
            watch,
            id,
            server: Arc::clone(server),
            keeper,
            _claim: claim,
            bus,
            followers: Mutex::default(),
            visits: AtomicU64::new(0),
            visitors: AtomicUsize::new(0),
            state: Mutex::new(State {
                runner: None,
                runners: 0,
                running: None,
                settings: opening.settings,
                is_unkept: false,
                has_title: opening.title.is_some(),
                tool_servers: opening.tool_servers,
                is_closed: false,
            }),
            commands,
            peers,
            host,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followers(&self) -> MutexGuard<'_, Vec<Follower>> {
        self.followers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a turn runs.
    fn is_running(&self) -> bool {
        self.state().running.is_some()
    }

    /// What was chosen.
    pub(crate) fn settings(&self) -> Settings {
        self.state().settings.clone()
    }

    /// Whether it is closed, or about to be. Who wants it has to open it again.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Nothing begins in it any more. Whoever says this closes it.
    pub(crate) fn begin_closing(&self) {
        self.state().is_closed = true;
    }

    /// Somebody opens it again: the folders and servers that they name replace those that were
    /// named before. A loop that runs keeps its tools; what leaves for the client is held
    /// against the new folders at once.
    ///
    /// # Errors
    /// It is closed.
    pub(crate) fn reopen(
        &self,
        additional_directories: Vec<PathBuf>,
        tool_servers: Vec<ServerConfig>,
    ) -> Result<(), Refusal> {
        let settings = self.choose(|_, settings| {
            settings.additional_directories = additional_directories;
            Ok(())
        })?;
        self.host.set_roots(settings.roots());
        // A program that knows the earlier ones is put away before the next turn.
        self.state().tool_servers = tool_servers;
        Ok(())
    }

    /// What has happened so far is kept.
    ///
    /// # Errors
    /// It cannot be.
    pub(crate) async fn sync(&self) -> Result<(), Refusal> {
        let kept = self.server.keeper.sync().await;
        kept.map_err(|error| {
            tracing::warn!(target: "acp", session_id = self.id, %error, "not kept");
            Refusal::internal("the session cannot be kept")
        })
    }

    /// Somebody follows the session. They are told what is kept, as far as they want to know;
    /// what happens they are told once they are [started](Self::start).
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn follow(&self, peer: Arc<dyn Peer>, from: From) -> Result<(), Refusal> {
        let follower = Follower::new(self, Arc::clone(&peer), from).await?;
        self.peers.attach(Arc::clone(&peer));
        let mut followers = self.followers();
        followers.retain(|one| !Arc::ptr_eq(&one.peer, &peer) && !one.peer.is_gone());
        followers.push(follower);
        Ok(())
    }

    /// A follower has its answer: it is told what there is to do, and what happens.
    pub(crate) fn start(&self, peer: &Arc<dyn Peer>) {
        let mut followers = self.followers();
        let follower = followers
            .iter_mut()
            .find(|one| Arc::ptr_eq(&one.peer, peer));
        let Some(follower) = follower else {
            return;
        };
        if let Some(update) = self.commands.update() {
            follower.tell(update);
        }
        follower.start();
    }

    /// Somebody is about to follow the session.
    pub(crate) fn visit(self: &Arc<Self>) -> Visit {
        self.visits.fetch_add(1, Ordering::SeqCst);
        self.visitors.fetch_add(1, Ordering::SeqCst);
        Visit(Arc::clone(self))
    }

    /// Whether nobody follows the session or is about to.
    pub(crate) fn is_deserted(&self) -> bool {
        self.visitors.load(Ordering::SeqCst) == 0 && self.followers().is_empty()
    }

    /// How often somebody began to follow the session. Tells whether anybody came since.
    pub(crate) fn visits(&self) -> u64 {
        self.visits.load(Ordering::SeqCst)
    }

    /// Somebody does not follow the session any more. Says whether nobody does.
    pub(crate) fn leave(&self, peer: &Arc<dyn Peer>) -> bool {
        self.peers.detach(peer);
        let mut followers = self.followers();
        followers.retain(|one| !Arc::ptr_eq(&one.peer, peer));
        drop(followers);
        self.is_deserted()
    }

    /// Tells all followers something that is no event, but for one of them.
    pub(crate) fn tell_all(&self, update: &Value, but: Option<&Arc<dyn Peer>>) {
        for follower in self.followers().iter() {
            if but.is_none_or(|but| !Arc::ptr_eq(but, &follower.peer)) {
                follower.tell(update.clone());
            }
        }
    }

    /// Changes what was chosen. The journal is told now, or after the turn that runs.
    ///
    /// # Errors
    /// That cannot be chosen, or the session is closed.
    pub(crate) fn choose(
        &self,
        change: impl FnOnce(&Choices, &mut Settings) -> Result<(), Refusal>,
    ) -> Result<Settings, Refusal> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Refusal::unknown_session(&self.id));
        }
        let mut settings = state.settings.clone();
        change(&self.server.choices, &mut settings)?;
        if settings != state.settings {
            state.settings = settings.clone();
            state.is_unkept = true;
            if state.running.is_none() {
                self.keep_settings(&mut state);
            }
        }
        Ok(settings)
    }

    /// Writes what was chosen to the journal, if that has something else.
    fn keep_settings(&self, state: &mut State) {
        if !std::mem::take(&mut state.is_unkept) {
            return;
        }
        let (id, bus) = (self.id.clone(), self.bus.clone());
        let (keeper, settings) = (Arc::clone(&self.keeper), state.settings.kept());
        let write = move || {
            let claim = keeper.claim(&id);
            let journal = claim.and_then(|claim| {
                Journal::resume(&id, &bus, claim).map_err(|cannot| match cannot {
                    CannotResume::Log(cause) => CannotClaim::Log(cause),
                    changed @ CannotResume::Changed { .. } => CannotClaim::Log(changed.into()),
                })
            });
            match journal {
                Ok(journal) => journal.keep(kept::SETTINGS, settings),
                Err(error) => tracing::warn!(target: "acp", session_id = id, %error, "not kept"),
            }
        };
        match &state.runner {
            Some(runner) => runner.turns.alone(write),
            None => write(),
        }
    }

    /// What is not used in it because its project is not trusted, as one line.
    pub(crate) async fn trust_notice(&self) -> Option<String> {
        let options = run_options(&self.server, &self.settings().cwd);
        let looking = tokio::task::spawn_blocking(move || options.trust_notice());
        looking.await.ok().flatten()
    }

    /// How the program is run for this session.
    fn run_options(&self, state: &State, keeper: Arc<Keeper>) -> RunOptions {
        let mut options = run_options(&self.server, &state.settings.cwd);
        let agents = &mut options.world.agents;
        agents.keeper = Some(keeper);
        agents.bus = Some(self.bus.clone());
        agents.bridge = Some(Arc::clone(&self.host) as Arc<dyn HostBridge>);
        agents.servers.extend(state.tool_servers.iter().cloned());
        // Whoever answers for a person looks for the question there.
        let log = Arc::clone(&self.server.options.log);
        let event_log = &mut options.world.event_log;
        event_log.open = Some(Arc::new(move || Some(Arc::clone(&log))));
        options
    }

    /// Stops the turn that runs, if one does, because somebody wants that.
    pub(crate) fn cancel(&self, who: &Principal) {
        self.cancel_running(who);
    }

    /// The same for a client, which hears what came of it also when there was nothing to stop.
    pub(crate) fn cancel_for_client(&self, who: &Principal) {
        match self.cancel_running(who) {
            Cancelled::Now => {}
            Cancelled::Before => self
                .bus
                .emit(&self.control(CANCEL, IDEMPOTENT, "cancelled", who)),
            Cancelled::Idle => self
                .bus
                .emit(&self.control(CANCEL, IDEMPOTENT, "idle", who)),
        }
    }

    fn cancel_running(&self, who: &Principal) -> Cancelled {
        let state = self.state();
        let (Some(running), Some(runner)) = (&state.running, &state.runner) else {
            return Cancelled::Idle;
        };
        let is_first = running.cancel();
        if is_first {
            self.bus
                .emit(&self.control(CANCEL, "accepted", "cancelled", who));
        }
        self.bus.cancel_calls(&self.id);
        runner.turns.cancel();
        match is_first {
            true => Cancelled::Now,
            false => Cancelled::Before,
        }
    }

    /// What came of something that somebody wanted of the session.
    fn control(&self, method: &str, outcome: &str, status: &str, who: &Principal) -> AgentEvent {
        AgentEvent::ControlOutcome {
            session_id: self.id.clone(),
            control_id: harn_vm::new_id(),
            method: method.to_owned(),
            outcome: outcome.to_owned(),
            status: status.to_owned(),
            actor: who.stored(),
            target: json!({"sessionId": self.id}),
            reason: None,
            metadata: Value::Null,
        }
    }

    /// Resolves when no turn runs.
    pub(crate) async fn rest(&self) {
        let over = self.state().running.as_ref().map(Running::over);
        if let Some(mut over) = over {
            let _the_turn_is_over = over.wait_for(|is_over| *is_over).await.is_ok();
        }
    }

    /// Ends the conversation here: the turn that runs is stopped, the program is put away, and
    /// what was lent is given back. The journal stays.
    pub(crate) async fn close(&self) {
        self.begin_closing();
        self.cancel(&Principal::harn());
        self.rest().await;
        let runner = self.state().runner.take();
        if let Some(runner) = runner {
            let stopping = tokio::task::spawn_blocking(move || {
                runner.turns.stop_later();
                runner.turns.has_ended_within(turn::PATIENCE)
            });
            if !stopping.await.unwrap_or_default() {
                tracing::warn!(target: "acp", session_id = self.id, "the program does not end");
            }
        }
        self.followers().clear();
    }
}

/// What the host of a session's program knows.
fn host_facts(server: &Server, id: &str, settings: &Settings, bus: &EventBus) -> SessionFacts {
    // Nobody waits for a client that cannot come back, and whoever is at the terminal has all
    // the time there is.
    let is_remote = !server.options.retain.is_zero();
    SessionFacts {
        id: id.to_owned(),
        is_bare: false,
        roots: settings.roots(),
        answer_within: is_remote.then_some(NETWORK_ANSWER_WITHIN),
        permissions_max: server.options.limits.permissions_max,
        refused: server.refused.clone(),
        log: Arc::clone(&server.options.log),
        bus: Some(bus.clone()),
        now: Arc::new(harn_vm::now_ms),
    }
}

/// How the program is run in a folder.
fn run_options(server: &Server, folder: &Path) -> RunOptions {
    let mut options = server.options.run.clone();
    options.folder = Some(folder.to_owned());
    options.is_detached = true;
    // Our own agent belongs to the project it works on; a program, to that of its file.
    if server.options.program.text.is_some() {
        let manifest = manifest_of(folder);
        options.world.models.manifest = manifest.or(options.world.models.manifest);
    }
    options
}

/// The manifest of the project that a folder belongs to.
fn manifest_of(folder: &Path) -> Option<PathBuf> {
    let manifests = folder.ancestors().map(|folder| folder.join("harn.toml"));
    manifests.into_iter().find(|path| path.is_file())
}
