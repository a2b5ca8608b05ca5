//! A connection: the client at its other end, and the sessions it follows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::agent::Principal;

use crate::error::Refusal;
use crate::link::Link;
use crate::peer::Peer;
use crate::server::Server;
use crate::session::{From, Session};

/// A connection.
pub(crate) struct Connection {
    pub(crate) server: Arc<Server>,
    /// Who the client is.
    pub(super) principal: Principal,
    /// The client.
    pub(super) link: Arc<Link>,
    /// The sessions that it follows.
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
}

impl Connection {
    pub(super) fn new(server: Arc<Server>, principal: Principal, link: Arc<Link>) -> Arc<Self> {
        Arc::new(Self {
            server,
            principal,
            link,
            sessions: Mutex::default(),
        })
    }

    /// The client, as sessions see it.
    pub(super) fn peer(&self) -> Arc<dyn Peer> {
        Arc::clone(&self.link) as Arc<dyn Peer>
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the connection follows a session.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) async fn follow(&self, session: &Arc<Session>, from: From) -> Result<(), Refusal> {
        session.follow(self.peer(), from).await?;
        self.forget_closed();
        self.sessions()
            .insert(session.id.clone(), Arc::clone(session));
        // Who left meanwhile has not left this one.
        if self.link.is_gone() {
            self.forget(session);
            session.leave(&self.peer());
        }
        Ok(())
    }

    /// What others have closed is not kept for as long as this connection stays.
    fn forget_closed(&self) {
        let known: Vec<_> = self.sessions().values().cloned().collect();
        let closed = known.iter().filter(|session| session.is_closed());
        closed.for_each(|session| self.forget(session));
    }

    /// The connection follows a session no more.
    pub(super) fn forget(&self, session: &Arc<Session>) {
        let mut sessions = self.sessions();
        let is_same = |known: &Arc<Session>| Arc::ptr_eq(known, session);
        // It may have been opened again since.
        if sessions.get(&session.id).is_some_and(is_same) {
            sessions.remove(&session.id);
        }
    }

    /// A session that this connection follows.
    ///
    /// # Errors
    /// It follows none of that id.
    pub(super) fn session(&self, id: &str) -> Result<Arc<Session>, Refusal> {
        let session = self.sessions().get(id).cloned();
        // Somebody else may have closed it.
        let session = session.filter(|session| !session.is_closed());
        session.ok_or_else(|| Refusal::unknown_session(id))
    }

    /// The session that this connection follows, if it is just one.
    pub(super) fn only_session(&self) -> Option<Arc<Session>> {
        let sessions = self.sessions();
        let mut sessions = sessions.values().filter(|one| !one.is_closed());
        let only = sessions.next().cloned();
        only.filter(|_| sessions.next().is_none())
    }

    /// The client has gone. If others may come, its sessions are kept ready for them. If not,
    /// turns are stopped; sessions can be resumed.
    pub(super) async fn close(&self) {
        let sessions: Vec<_> = std::mem::take(&mut *self.sessions())
            .into_values()
            .collect();
        let peer = self.peer();
        if !self.server.options.retain.is_zero() {
            let left = sessions.into_iter().filter(|session| session.leave(&peer));
            left.for_each(|session| self.server.retain(session));
            return;
        }
        let closing = sessions.into_iter().map(|session| {
            let (server, peer) = (Arc::clone(&self.server), Arc::clone(&peer));
            let who = self.principal.clone();
            tokio::spawn(async move {
                session.cancel(&who);
                session.rest().await;
                let _door = server.door(&session.id).await;
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
