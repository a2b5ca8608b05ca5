//! The connections of a session.
//!
//! A session outlives its connections. Whoever came last is asked. If it goes while we wait for
//! its answer, the question is put to whoever comes within the time that the session is kept
//! for; after that the session is closed, and with it the question.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;

use super::lock;
use crate::peer::{ClientFacts, Peer, PeerError};

/// The connections of a session, the newest last.
pub(crate) struct Peers {
    attached: Mutex<Vec<Arc<dyn Peer>>>,
    came: Notify,
    /// How long a session is kept for somebody who comes back; a question waits a little longer.
    kept_for: Duration,
}

/// How much longer. A session that nobody has come back to is closed, which ends its turn as
/// cancelled, and so the question. A question that gave up first would be a no, with which the
/// turn would go on.
const LONGER: Duration = Duration::from_secs(10);

impl Peers {
    /// No connections yet. On standard input and output nobody comes back, so there `kept_for`
    /// is zero.
    pub(crate) fn new(kept_for: Duration) -> Arc<Self> {
        Arc::new(Self {
            attached: Mutex::default(),
            came: Notify::new(),
            kept_for,
        })
    }

    /// A connection has the session now.
    pub(crate) fn attach(&self, peer: Arc<dyn Peer>) {
        let mut attached = lock(&self.attached);
        attached.retain(|one| !Arc::ptr_eq(one, &peer));
        attached.push(peer);
        drop(attached);
        self.came.notify_waiters();
    }

    /// It has it no more.
    pub(crate) fn detach(&self, peer: &Arc<dyn Peer>) {
        lock(&self.attached).retain(|one| !Arc::ptr_eq(one, peer));
    }

    /// The connection that works with the session is the one to ask.
    pub(crate) fn prefer(&self, peer: &Arc<dyn Peer>) {
        let mut attached = lock(&self.attached);
        if let Some(at) = attached.iter().position(|one| Arc::ptr_eq(one, peer)) {
            let peer = attached.remove(at);
            attached.push(peer);
        }
    }

    /// The newest client that is there and can do something.
    pub(crate) fn find(&self, can: impl Fn(&ClientFacts) -> bool) -> Option<Arc<dyn Peer>> {
        self.find_but(&[], &can)
    }

    /// All clients that can do something.
    pub(crate) fn all(&self, can: impl Fn(&ClientFacts) -> bool) -> Vec<Arc<dyn Peer>> {
        let attached = lock(&self.attached);
        attached
            .iter()
            .filter(|peer| !peer.is_gone() && can(&peer.client()))
            .cloned()
            .collect()
    }

    fn find_but(
        &self,
        gone: &[Arc<dyn Peer>],
        can: &impl Fn(&ClientFacts) -> bool,
    ) -> Option<Arc<dyn Peer>> {
        let attached = lock(&self.attached);
        let mut newest_first = attached.iter().rev();
        let is_gone =
            |peer: &Arc<dyn Peer>| peer.is_gone() || gone.iter().any(|one| Arc::ptr_eq(one, peer));
        let found = newest_first.find(|peer| !is_gone(peer) && can(&peer.client()));
        found.cloned()
    }

    /// Asks, and asks again whoever comes back if the client goes. For questions that may be
    /// put twice.
    ///
    /// # Errors
    /// What the client says, or that there is nobody who can answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        parameters: Value,
        can: impl Fn(&ClientFacts) -> bool,
    ) -> Result<Value, PeerError> {
        let mut gone = Vec::new();
        loop {
            let Some(peer) = self.somebody(&gone, &can).await else {
                return Err(PeerError::gone());
            };
            let answer = peer.request(method, parameters.clone()).await;
            match answer {
                Err(error) if error.is_gone => gone.push(peer),
                answer => return answer,
            }
        }
    }

    /// Somebody who can do it: at once, or within the time that the session is kept for.
    async fn somebody(
        &self,
        gone: &[Arc<dyn Peer>],
        can: &impl Fn(&ClientFacts) -> bool,
    ) -> Option<Arc<dyn Peer>> {
        let comes = async {
            loop {
                let mut came = std::pin::pin!(self.came.notified());
                came.as_mut().enable();
                if let Some(found) = self.find_but(gone, can) {
                    return found;
                }
                came.await;
            }
        };
        if let Some(found) = self.find_but(gone, can) {
            return Some(found);
        }
        // Whoever is there and cannot do it will not learn it.
        let anybody_else = self.find_but(gone, &|_: &ClientFacts| true);
        if self.kept_for.is_zero() || anybody_else.is_some() {
            return None;
        }
        let kept_for = self.kept_for.saturating_add(LONGER);
        tokio::time::timeout(kept_for, comes).await.ok()
    }
}
