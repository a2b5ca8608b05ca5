//! What all connections share: the program, the log and the sessions that are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::agent::Keeper;
use harn_vm::agent::log::AnyEventLog;
use harn_vm::{AnsweringProgram, RunOptions};

use crate::error::Refusal;
use crate::session::Session;

/// How many sessions may be open at once, on all connections together.
const SESSIONS_MAX: usize = 1024;

/// How a server is made.
pub struct ServerOptions {
    /// The program that answers.
    pub program: AnsweringProgram,
    /// How it is run, but for what belongs to a session.
    pub run: RunOptions,
    /// Where sessions are kept.
    pub log: Arc<AnyEventLog>,
    /// Whether sessions are forgotten when the server ends: clients cannot load them again.
    pub is_ephemeral: bool,
    /// Takes what the program prints. It never reaches the client: the output of the process
    /// may be its connection.
    pub printed: Arc<dyn Fn(&str) + Send + Sync>,
}

/// An agent that clients can connect to.
pub struct Server {
    pub(crate) options: ServerOptions,
    /// Writes for all sessions, so that they share a thread and their syncs.
    pub(crate) keeper: Arc<Keeper>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

impl Server {
    /// A server without connections.
    pub fn new(options: ServerOptions) -> Arc<Self> {
        Arc::new(Self {
            keeper: Keeper::new(Arc::clone(&options.log)),
            options,
            sessions: Mutex::default(),
        })
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that is open.
    ///
    /// # Errors
    /// There is none of that id, or nobody has opened it.
    pub(crate) fn session(&self, id: &str) -> Result<Arc<Session>, Refusal> {
        let session = self.sessions().get(id).cloned();
        session.ok_or_else(|| Refusal::unknown_session(id))
    }

    /// Takes note of a session that was opened.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn add(&self, session: &Arc<Session>) -> Result<(), Refusal> {
        let mut sessions = self.sessions();
        if sessions.len() >= SESSIONS_MAX {
            let message = format!("{SESSIONS_MAX} sessions are open");
            return Err(Refusal::overloaded(message, 1000));
        }
        sessions.insert(session.id.clone(), Arc::clone(session));
        Ok(())
    }
}
