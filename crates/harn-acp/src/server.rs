//! What all connections share: the program, the log and the sessions that are open.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use harn_vm::agent::log::{AnyEventLog, LogError};
use harn_vm::agent::session::SessionState;
use harn_vm::agent::tool_servers::ServerConfig;
use harn_vm::agent::{Keeper, OpenProofs, Principal};
use harn_vm::{AnsweringProgram, RunOptions};
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::access::Access;
use crate::error::Refusal;
use crate::limits::{Refused, SessionLimits};
use crate::session::{self, Choices, Mode, Past, Session, Settings};

/// How long a client should wait that asks for a session too many.
const RETRY_AFTER_MS: u64 = 1000;

/// How a server is made.
pub struct ServerOptions {
    /// The program that answers.
    pub program: AnsweringProgram,
    /// How it is run, but for what belongs to a session.
    pub run: RunOptions,
    /// The modes that the program knows; it gets the one that is chosen as `mode`.
    pub modes: Vec<Mode>,
    /// What clients know the agent by; `None`: our own name.
    pub title: Option<String>,
    /// Where sessions are kept.
    pub log: Arc<AnyEventLog>,
    /// How journals prove who wrote them, if they do.
    pub proofs: Option<OpenProofs>,
    /// Whether sessions are forgotten when the server ends: clients cannot load them again.
    pub is_ephemeral: bool,
    /// How long a session is kept ready for whoever comes back after its last client has gone,
    /// with the turn that runs in it. On standard input and output nobody comes back: zero.
    pub retain: Duration,
    /// How much clients may have open at once.
    pub limits: SessionLimits,
    /// What callers of a listener may name.
    pub access: Access,
    /// Takes what the program prints. It never reaches the client: the output of the process
    /// may be its connection.
    pub printed: Arc<dyn Fn(&str) + Send + Sync>,
}

/// An agent that clients can connect to.
pub struct Server {
    pub(crate) options: ServerOptions,
    /// Writes for all sessions, so that they share a thread and their syncs.
    pub(crate) keeper: Arc<Keeper>,
    /// What clients can choose.
    pub(crate) choices: Choices,
    /// How often the limits were met.
    pub(crate) refused: Refused,
    sessions: Mutex<Sessions>,
    /// The sessions that are being opened or closed.
    doors: Mutex<HashMap<String, Weak<AsyncMutex<()>>>>,
}

/// The sessions of a server.
#[derive(Default)]
struct Sessions {
    open: HashMap<String, Arc<Session>>,
    /// Places that were given to sessions which are being made.
    promised: usize,
}

/// Room for one more session.
pub(crate) struct Place(Arc<Server>);

impl Place {
    /// The session is open: it takes the place.
    pub(crate) fn take(self, session: &Arc<Session>) {
        let mut sessions = self.0.sessions();
        let session = Arc::clone(session);
        sessions.open.insert(session.id.clone(), session);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.sessions().promised -= 1;
    }
}

impl Server {
    /// A server without connections.
    pub fn new(options: ServerOptions) -> Arc<Self> {
        let keeper = Keeper::new(Arc::clone(&options.log));
        if let Some(proofs) = options.proofs.clone() {
            keeper.prove_with(proofs);
        }
        Arc::new(Self {
            keeper,
            choices: Choices::new(&options.run, options.modes.clone()),
            options,
            refused: Refused::default(),
            sessions: Mutex::default(),
            doors: Mutex::default(),
        })
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that is open, or about to be closed, whosever it is.
    fn opened(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions().open.get(id).cloned()
    }

    /// The same, for whoever has made it. For others there is none of that id.
    pub(crate) fn opened_by(&self, who: &Principal, id: &str) -> Option<Arc<Session>> {
        let opened = self.opened(id);
        opened.filter(|session| session.settings().belongs_to(who))
    }

    /// Room for one more session. Asked for before one is made, so that nothing is left of one
    /// that is refused.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Place, Refusal> {
        let max = self.options.limits.sessions_max;
        let mut sessions = self.sessions();
        if sessions.open.len() + sessions.promised < max {
            sessions.promised += 1;
            drop(sessions);
            return Ok(Place(Arc::clone(self)));
        }
        self.refused.session();
        let message = format!("{max} sessions are open, and there may be no more");
        Err(Refusal::overloaded(message, RETRY_AFTER_MS))
    }

    /// Closes a session, for whoever holds its door. Its journal stays.
    pub(crate) async fn close(&self, session: &Arc<Session>) {
        session.close().await;
        let mut sessions = self.sessions();
        let is_same = |known: &Arc<Session>| Arc::ptr_eq(known, session);
        if sessions.open.get(&session.id).is_some_and(is_same) {
            sessions.open.remove(&session.id);
        }
    }

    /// Whoever holds the door of a session is the only one who opens or closes it.
    pub(crate) async fn door(&self, id: &str) -> OwnedMutexGuard<()> {
        let door = {
            let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
            doors.retain(|_, door| door.strong_count() > 0);
            let door = doors.get(id).and_then(Weak::upgrade).unwrap_or_default();
            doors.insert(id.to_owned(), Arc::downgrade(&door));
            door
        };
        door.lock_owned().await
    }

    /// The last client of a session has gone. Whoever comes back in time finds it as it was;
    /// after that it is closed.
    pub(crate) fn retain(self: &Arc<Self>, session: Arc<Session>) {
        let (server, visits) = (Arc::clone(self), session.visits());
        tokio::spawn(async move {
            tokio::time::sleep(server.options.retain).await;
            // Whoever wants it now waits until it is closed, and opens it again.
            let _door = server.door(&session.id).await;
            if session.visits() == visits && session.is_deserted() {
                server.close(&session).await;
            }
        });
    }

    /// Closes all sessions. Their journals stay.
    pub(crate) async fn close_all(&self) {
        let sessions: Vec<_> = self.sessions().open.values().cloned().collect();
        for session in &sessions {
            session.cancel(&Principal::harn());
        }
        for session in &sessions {
            let _door = self.door(&session.id).await;
            self.close(session).await;
        }
    }

    /// A session as the log has it, for whoever has made it.
    ///
    /// # Errors
    /// There is none, it is somebody else's, or the log cannot be read.
    pub(crate) async fn find(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<(SessionState, Settings), Refusal> {
        let found = self.find_any(id).await?;
        let found = found.filter(|(_, settings)| settings.belongs_to(who));
        found.ok_or_else(|| Refusal::unknown_session(id))
    }

    /// A session as the log has it, whosever it is.
    async fn find_any(&self, id: &str) -> Result<Option<(SessionState, Settings)>, Refusal> {
        self.written().await?;
        let found = session::find(&self.options.log, id).await;
        found.map_err(|error| unreadable(&error))
    }

    /// The sessions of the log that somebody has made, the latest first.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn list(
        &self,
        who: &Principal,
        cwd: Option<&Path>,
    ) -> Result<Vec<Past>, Refusal> {
        self.written().await?;
        let sessions = session::list(&self.options.log, cwd).await;
        let mut sessions = sessions.map_err(|error| unreadable(&error))?;
        sessions.retain(|past| past.settings.belongs_to(who));
        // What was chosen since stands somewhere in the middle of a journal.
        for past in &mut sessions {
            if let Some(session) = self.opened(&past.id) {
                past.settings = session.settings();
            }
        }
        Ok(sessions)
    }

    /// Removes a session from the log. One that is somebody else's is not there.
    ///
    /// # Errors
    /// Another process writes it, or the log cannot be changed.
    pub(crate) async fn remove(&self, who: &Principal, id: &str) -> Result<(), Refusal> {
        let found = self.find_any(id).await?;
        // What no client has made is the operator's.
        let owner = found.and_then(|(_, settings)| settings.owner);
        if !who.owns(owner.as_ref()) {
            return Ok(());
        }
        let claim = self.keeper.lend_apart(id).claim(id);
        let _claim = claim.map_err(|cause| Refusal::unclaimed(id, &cause))?;
        let removed = session::remove(&self.options.log, id).await;
        removed.map_err(|error| unreadable(&error))
    }

    /// What has happened so far is in the log.
    async fn written(&self) -> Result<(), Refusal> {
        let written = self.keeper.sync().await;
        written.map_err(|error| {
            tracing::warn!(target: "acp", %error, "the log cannot be written");
            Refusal::internal("the log cannot be written")
        })
    }

    /// The MCP servers that a client lends to a session.
    ///
    /// # Errors
    /// They are not understood, one has the name of one of the program's, or the client may not
    /// lend it.
    pub(crate) fn lent(
        &self,
        who: &Principal,
        parameters: &Value,
    ) -> Result<Vec<ServerConfig>, Refusal> {
        let own = &self.options.run.world.agents.servers;
        let servers = session::read_tool_servers(&parameters["mcpServers"], own)?;
        self.options.access.check_servers(who, &servers)?;
        Ok(servers)
    }
}

fn unreadable(error: &LogError) -> Refusal {
    tracing::warn!(target: "acp", %error, "the log cannot be used");
    Refusal::internal("the log of sessions cannot be used")
}
