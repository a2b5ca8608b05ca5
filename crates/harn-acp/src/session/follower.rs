//! Those who follow a session: what is kept of it, then what happens, told in order.
//!
//! ```text
//! Subscription ─► Mapping ─► Peer::notify        one task per connection that follows
//!      cursor ─► whoever waits until all was told
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_vm::agent::Subscription;
use serde_json::{Value, json};
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
    mouth: Arc<Mouth>,
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
        let mouth = Arc::new(Mouth {
            session_id: session.id.clone(),
            peer: Arc::clone(&peer),
            last: Mutex::default(),
        });
        let teller = Teller {
            host: Arc::clone(&session.host),
            mouth: Arc::clone(&mouth),
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
        mouth.knows(subscription.cursor());
        let host = &session.host;
        host.told(subscription.cursor(), mapping.open_calls());
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
            mouth,
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

    /// Tells it something that is no event.
    pub(super) fn tell(&self, update: Value) {
        self.mouth.say_besides(update);
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

/// Says things to one client, one at a time, so that no index comes after a later one: a client
/// that comes back after the last index it has seen must have missed nothing before it.
struct Mouth {
    session_id: String,
    peer: Arc<dyn Peer>,
    /// The last index that was said.
    last: Mutex<Option<u64>>,
}

impl Mouth {
    /// The client has heard of everything up to an index, or does not want to.
    fn knows(&self, index: Option<u64>) {
        *self.last() = index;
    }

    /// What stands for a record, and has its index.
    fn say(&self, update: Value) {
        let mut last = self.last();
        *last = update["_meta"]["harn"]["index"].as_u64().max(*last);
        self.send(update);
    }

    /// Something that is no event: it comes after what was said last.
    fn say_besides(&self, mut update: Value) {
        let last = self.last();
        if let Some(index) = *last {
            update["_meta"] = json!({"harn": {"index": index}});
        }
        self.send(update);
    }

    fn send(&self, update: Value) {
        // Not by `json!`, which copies.
        let session_id = Value::String(self.session_id.clone());
        let parameters = [
            ("sessionId".to_owned(), session_id),
            ("update".to_owned(), update),
        ];
        let parameters = Value::Object(parameters.into_iter().collect());
        self.peer.notify("session/update", parameters);
    }

    fn last(&self) -> MutexGuard<'_, Option<u64>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a client what a session says.
struct Teller {
    /// Asks about calls once they were told.
    host: Arc<EditorHost>,
    mouth: Arc<Mouth>,
}

impl Teller {
    /// Tells it as soon as the client has read enough of what it was told before. Says whether
    /// the client is still there.
    async fn tell(&self, outgoing: Outgoing) -> bool {
        let Mouth {
            peer, session_id, ..
        } = &*self.mouth;
        if !peer.has_room(session_id).await {
            return false;
        }
        match outgoing {
            Outgoing::Update(update) => {
                let about_call = EditorHost::is_about_call(&update).then(|| update.clone());
                self.mouth.say(update);
                if let Some(update) = about_call {
                    self.host.said(&update);
                }
            }
            Outgoing::Extension { method, parameters } => peer.notify(method, parameters),
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
            let host = &self.teller.host;
            host.told(Some(seen.index), self.mapping.open_calls());
            self.progress.send_replace(Some(seen.index));
            if self.teller.mouth.peer.is_gone() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use harn_vm::agent::BoxFuture;

    use super::*;
    use crate::peer::{ClientFacts, PeerError};

    /// A client that writes down the index of what it is told.
    #[derive(Default)]
    struct Ear(Mutex<Vec<Option<u64>>>);

    impl Peer for Ear {
        fn request<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, Result<Value, PeerError>> {
            Box::pin(async { Err(PeerError::gone()) })
        }

        fn notify(&self, _: &str, parameters: Value) {
            let index = parameters["update"]["_meta"]["harn"]["index"].as_u64();
            self.0.lock().unwrap().push(index);
        }

        fn client(&self) -> Arc<ClientFacts> {
            Arc::default()
        }

        fn is_gone(&self) -> bool {
            false
        }
    }

    /// Whatever the session has come to meanwhile: who comes back after the index 5 must not
    /// miss what happened at 9. Not every record is told, so indexes leap.
    #[test]
    fn what_is_no_event_has_the_index_of_what_was_told_before_it() {
        let ear = Arc::new(Ear::default());
        let mouth = Mouth {
            session_id: "s".to_owned(),
            peer: Arc::clone(&ear) as Arc<dyn Peer>,
            last: Mutex::default(),
        };
        let title = || json!({"sessionUpdate": "session_info_update", "title": "t"});
        let event = |index: u64| json!({"_meta": {"harn": {"index": index}}});
        mouth.say_besides(title());
        mouth.knows(Some(2));
        mouth.say_besides(title());
        mouth.say(event(5));
        mouth.say_besides(title());
        mouth.say(event(9));
        mouth.say_besides(title());
        let heard = ear.0.lock().unwrap();
        assert_eq!(*heard, [None, Some(2), Some(5), Some(5), Some(9), Some(9)]);
    }
}
