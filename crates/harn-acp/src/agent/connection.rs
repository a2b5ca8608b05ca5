//! A connection: the client at its other end, and the sessions it follows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::{Client, ConnectionTo, UntypedMessage, is_incoming_transport_closed};
use harn_vm::agent::BoxFuture;
use serde_json::Value;

use crate::error::Refusal;
use crate::frames::Room;
use crate::peer::{ClientFacts, Peer, PeerError};
use crate::server::Server;
use crate::session::{From, Session};

/// A connection.
pub(crate) struct Connection {
    pub(crate) server: Arc<Server>,
    /// Where updates of sessions wait for a client that reads slowly.
    room: Arc<dyn Room>,
    /// The SDK's end, known from the first message on.
    client: OnceLock<ConnectionTo<Client>>,
    /// What the client said in `initialize`; nothing before.
    facts: Mutex<Option<Arc<ClientFacts>>>,
    /// The sessions that it follows.
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
}

impl Connection {
    pub(super) fn new(server: Arc<Server>, room: Arc<dyn Room>) -> Arc<Self> {
        Arc::new(Self {
            server,
            room,
            client: OnceLock::new(),
            facts: Mutex::default(),
            sessions: Mutex::default(),
        })
    }

    pub(super) fn attach(&self, client: ConnectionTo<Client>) {
        let _known_since_the_first_message = self.client.set(client);
    }

    /// The client has said what it can do.
    pub(super) fn introduce(&self, facts: ClientFacts) {
        *self.facts() = Some(Arc::new(facts));
    }

    pub(super) fn is_initialized(&self) -> bool {
        self.facts().is_some()
    }

    fn facts(&self) -> MutexGuard<'_, Option<Arc<ClientFacts>>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the connection follows a session.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) async fn follow(
        self: &Arc<Self>,
        session: &Arc<Session>,
        from: From,
    ) -> Result<(), Refusal> {
        let peer = Arc::clone(self) as Arc<dyn Peer>;
        session.follow(peer, from).await?;
        self.sessions()
            .insert(session.id.clone(), Arc::clone(session));
        Ok(())
    }

    /// The connection follows a session no more.
    pub(super) fn forget(&self, id: &str) {
        self.sessions().remove(id);
    }

    /// A session that this connection follows.
    ///
    /// # Errors
    /// It follows none of that id.
    pub(super) fn session(&self, id: &str) -> Result<Arc<Session>, Refusal> {
        let session = self.sessions().get(id).cloned();
        session.ok_or_else(|| Refusal::unknown_session(id))
    }

    /// The session that this connection follows, if it is just one.
    pub(super) fn only_session(&self) -> Option<Arc<Session>> {
        let sessions = self.sessions();
        let mut sessions = sessions.values();
        let only = sessions.next().cloned();
        only.filter(|_| sessions.next().is_none())
    }

    /// The client has gone. If others may come, its sessions are kept ready for them. If not,
    /// turns are stopped; sessions can be resumed.
    pub(super) async fn close(self: &Arc<Self>) {
        let sessions: Vec<_> = std::mem::take(&mut *self.sessions())
            .into_values()
            .collect();
        let peer = Arc::clone(self) as Arc<dyn Peer>;
        if !self.server.options.retain.is_zero() {
            let left = sessions.into_iter().filter(|session| session.leave(&peer));
            left.for_each(|session| self.server.retain(session));
            return;
        }
        let closing = sessions.into_iter().map(|session| {
            let (server, peer) = (Arc::clone(&self.server), Arc::clone(&peer));
            tokio::spawn(async move {
                session.cancel();
                session.rest().await;
                if session.leave(&peer) {
                    server.close(&session).await;
                }
            })
        });
        let closing: Vec<_> = closing.collect();
        for one in closing {
            let _it_has_reported_its_panic = one.await.is_ok();
        }
    }
}

impl Peer for Connection {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, PeerError>> {
        Box::pin(async move {
            let client = self.client.get().ok_or_else(PeerError::gone)?;
            let message = UntypedMessage::new(method, parameters);
            let message = message.map_err(|error| peer_error(&error))?;
            let answer = client.send_request(message).block_task().await;
            answer.map_err(|error| peer_error(&error))
        })
    }

    fn notify(&self, method: &str, parameters: Value) {
        let Some(client) = self.client.get() else {
            return;
        };
        let sent = UntypedMessage::new(method, parameters)
            .and_then(|message| client.send_notification(message));
        if let Err(error) = sent {
            tracing::debug!(target: "acp", method, code = i32::from(error.code), "not sent");
        }
    }

    fn has_room<'a>(&'a self, session_id: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async { self.room.reserve(session_id).await.is_ok() })
    }

    fn client(&self) -> Arc<ClientFacts> {
        self.facts().clone().unwrap_or_default()
    }

    fn is_gone(&self) -> bool {
        let client = self.client.get();
        client.is_some_and(|client| client.is_incoming_closed() || client.termination().is_some())
    }
}

fn peer_error(error: &agent_client_protocol::Error) -> PeerError {
    if is_incoming_transport_closed(error) {
        return PeerError::gone();
    }
    PeerError {
        code: i64::from(i32::from(error.code)),
        message: error.message.clone(),
        data: error.data.clone(),
        is_gone: false,
    }
}
