//! One conversation.
//!
//! ```text
//! prompt ─► Turn ─► TurnRunner: the program ─► bus ─► events ─► updates ─► every connection
//!    ▲        │                                  └──► log           that follows the session
//!    └────────┴─ answered when the turn has ended and its updates were sent
//! ```
//!
//! The journal of the session is in the log of the project. Here is only what a conversation
//! needs while somebody takes part in it.

mod content;
mod turn;
mod updates;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::agent::KeptSessions;
use harn_vm::agent::events::{BusConfig, EventBus, SinkGuard};
use harn_vm::agent::session::{Session as Journal, kept};
use harn_vm::{RunOptions, TurnRunner};
use serde_json::json;

pub(crate) use content::Prompt;

use crate::error::Refusal;
use crate::peer::Peer;
use crate::server::Server;
use turn::Running;
use updates::Updates;

/// Where a session works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its folder.
    pub(crate) cwd: PathBuf,
    /// Other folders that belong to it.
    pub(crate) more: Vec<PathBuf>,
}

/// One conversation.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) place: Place,
    server: Arc<Server>,
    /// Its own, so that what happens in other conversations cannot be seen here.
    bus: EventBus,
    /// Those who follow it.
    peers: Mutex<Vec<Arc<dyn Peer>>>,
    state: Mutex<State>,
    updates: SinkGuard,
}

#[derive(Default)]
struct State {
    /// Runs the program; started with the first turn.
    runner: Option<Arc<TurnRunner>>,
    /// The turn that runs.
    running: Option<Running>,
}

impl Session {
    /// A session that begins. It is kept before anybody hears of it.
    ///
    /// # Errors
    /// It cannot be kept.
    pub(crate) async fn create(
        server: &Arc<Server>,
        id: String,
        place: Place,
    ) -> Result<Arc<Self>, Refusal> {
        let session = Self::open(server, id, place);
        let journal = Journal::open(&session.id, &session.bus, Some(&server.keeper));
        journal.keep(kept::SETTINGS, json!({"cwd": session.place.cwd}));
        let kept = server.keeper.sync().await;
        kept.map_err(|error| Refusal::internal(format!("the session cannot be kept: {error}")))?;
        Ok(session)
    }

    fn open(server: &Arc<Server>, id: String, place: Place) -> Arc<Self> {
        let bus = EventBus::new(BusConfig {
            durable: Some(Arc::new(KeptSessions {
                keeper: Arc::clone(&server.keeper),
                otherwise: None,
            })),
            ..BusConfig::default()
        });
        Arc::new_cyclic(|session| Self {
            updates: bus.register(id.clone(), Arc::new(Updates::new(session.clone()))),
            id,
            place,
            server: Arc::clone(server),
            bus,
            peers: Mutex::default(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody follows the session from now on.
    pub(crate) fn attach(&self, peer: Arc<dyn Peer>) {
        self.peers().push(peer);
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Arc<dyn Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the program is run for this session.
    fn run_options(&self) -> RunOptions {
        let mut options = self.server.options.run.clone();
        options.folder = Some(self.place.cwd.clone());
        options.is_detached = true;
        let agents = &mut options.world.agents;
        agents.keeper = Some(Arc::clone(&self.server.keeper));
        agents.bus = Some(self.bus.clone());
        options
    }

    /// Stops the turn that runs, if one does.
    pub(crate) fn cancel(&self) {
        let state = self.state();
        if let (Some(running), Some(runner)) = (&state.running, &state.runner) {
            running.cancel();
            runner.cancel();
        }
    }

    /// Resolves when no turn runs.
    pub(crate) async fn rest(&self) {
        let over = self.state().running.as_ref().map(Running::over);
        if let Some(mut over) = over {
            let _the_turn_is_over = over.wait_for(|is_over| *is_over).await;
        }
    }
}
