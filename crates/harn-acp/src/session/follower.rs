//! Those who follow a session: what is kept of it, then what happens, told in order.
//!
//! ```text
//! Subscription ─► Mapping ─► Peer::notify        one task per connection that follows
//!      cursor ─► whoever waits until all was told
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use harn_vm::agent::Subscription;
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use super::Session;
use crate::client::EditorHost;
use crate::error::Refusal;
use crate::peer::Peer;
use crate::wire::{Mapping, Outgoing, Profile, replay};

/// What a follower is told of what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Nothing: it follows what happens from now on.
    Now,
    /// What comes after an index, or everything.
    After(Option<u64>),
}

/// Somebody who follows a session.
pub(crate) struct Follower {
    pub(super) peer: Arc<dyn Peer>,
    /// The index of the last record that was told.
    told: watch::Receiver<Option<u64>>,
    /// Messages that it has sent itself, and need not be told.
    own: Arc<Mutex<Vec<String>>>,
    /// Lets it go on, when what was kept was told and the client has its answer.
    start: Option<oneshot::Sender<()>>,
    task: AbortHandle,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Follower {
    /// Tells what is kept, then waits to be started.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) async fn new(
        session: &Session,
        peer: Arc<dyn Peer>,
        from: From,
    ) -> Result<Self, Refusal> {
        let after = match from {
            From::Now => Some(u64::MAX),
            From::After(index) => index,
        };
        // From the beginning, whatever is told: what a record says depends on those before it.
        let log = Arc::clone(&session.server.options.log);
        let subscription = Subscription::open(&session.bus, log, &session.id, None).await;
        let mut subscription = subscription.map_err(unreadable)?;
        let teller = Teller {
            session_id: session.id.clone(),
            host: Arc::clone(&session.host),
            peer: Arc::clone(&peer),
        };
        let profile = Profile::of(&peer.client());
        let (settings, is_running) = (session.settings(), session.is_running());
        let mapping = Mapping::new(settings.cwd);
        // Also who wants nothing of the past learns that calls it knows of have ended. Whether or
        // not it is still there: the mapping has to see everything.
        let teller_now = &teller;
        let say = |outgoing| async move {
            teller_now.tell(outgoing).await;
        };
        let mapping = replay(&mut subscription, mapping, &profile, after, is_running, say).await;
        if let Some(error) = subscription.failure() {
            return Err(unreadable(error));
        }
        let (progress, told) = watch::channel(subscription.cursor());
        let own = Arc::<Mutex<Vec<String>>>::default();
        let reader = Reader {
            teller,
            profile,
            mapping,
            subscription,
            progress,
            own: Arc::clone(&own),
        };
        let (start, started) = oneshot::channel();
        let task = tokio::spawn(async move {
            if started.await.is_ok() {
                reader.read().await;
            }
        });
        Ok(Self {
            peer,
            told,
            own,
            start: Some(start),
            task: task.abort_handle(),
        })
    }

    /// Tells what has happened since, and what happens.
    pub(super) fn start(&mut self) {
        if let Some(start) = self.start.take() {
            let _it_was_closed = start.send(());
        }
    }

    /// It has sent a message itself: it is not told of it when it happens.
    pub(super) fn sends(&self, message_id: &str) {
        let own = self.own.lock();
        let mut own = own.unwrap_or_else(PoisonError::into_inner);
        own.push(message_id.to_owned());
    }

    /// Resolves when everything up to an index was told, or nobody is there to be told.
    pub(super) fn reached(&self, index: u64) -> impl Future<Output = ()> + Send + use<> {
        let mut told = self.told.clone();
        async move {
            let is_there = |told: &Option<u64>| told.is_some_and(|told| told >= index);
            let _nobody_reads_any_more = told.wait_for(is_there).await.is_ok();
        }
    }
}

fn unreadable(error: impl std::fmt::Display) -> Refusal {
    tracing::warn!(target: "acp", %error, "a session cannot be read");
    Refusal::internal("the log of the session cannot be read")
}

/// Tells a client what a session says.
struct Teller {
    session_id: String,
    /// Asks about calls once they were told.
    host: Arc<EditorHost>,
    peer: Arc<dyn Peer>,
}

impl Teller {
    /// Tells it as soon as the client has read enough of what it was told before. Says whether
    /// the client is still there.
    async fn tell(&self, outgoing: Outgoing) -> bool {
        if !self.peer.has_room(&self.session_id).await {
            return false;
        }
        match outgoing {
            Outgoing::Update(update) => {
                let parameters = json!({"sessionId": self.session_id, "update": update});
                self.peer.notify("session/update", parameters.clone());
                self.host.said(&parameters["update"]);
            }
            Outgoing::Extension { method, parameters } => self.peer.notify(method, parameters),
        }
        true
    }
}

struct Reader {
    teller: Teller,
    profile: Profile,
    mapping: Mapping,
    subscription: Subscription,
    progress: watch::Sender<Option<u64>>,
    own: Arc<Mutex<Vec<String>>>,
}

impl Reader {
    async fn read(mut self) {
        while let Some(seen) = self.subscription.next().await {
            let own = std::mem::take(&mut *self.own.lock().unwrap_or_else(PoisonError::into_inner));
            own.iter()
                .for_each(|message_id| self.mapping.sent(message_id));
            for outgoing in self.mapping.of(&seen, &self.profile) {
                if !self.teller.tell(outgoing).await {
                    return;
                }
            }
            self.progress.send_replace(Some(seen.index));
            if self.teller.peer.is_gone() {
                return;
            }
        }
    }
}
