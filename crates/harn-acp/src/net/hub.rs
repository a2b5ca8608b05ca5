//! All connections of a listener.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::{Channel, ConnectionDriver};
use axum::Router;
use axum::routing::get;
use harn_listen::{Caller, Means};
use tokio::sync::watch;

use super::connection::HttpConnection;
use super::{Network, http, socket};
use crate::frames::{Counters, Room};

/// An agent for one more client: its messages, and what runs it. It counts with the listener.
pub(crate) type Connect = Arc<
    dyn Fn(Arc<dyn Room>, Arc<Counters>, &Caller) -> (Channel, Option<ConnectionDriver>)
        + Send
        + Sync,
>;

/// All connections of a listener.
pub(crate) struct Hub {
    pub(super) settings: Network,
    pub(super) counters: Arc<Counters>,
    connect: Connect,
    by_id: Mutex<HashMap<String, Arc<HttpConnection>>>,
    /// How many connections each caller has.
    open: Mutex<HashMap<CallerKey, usize>>,
    stopping: watch::Sender<bool>,
    /// A connection has come to its end.
    left: watch::Sender<()>,
}

/// The place of one connection among those there may be.
pub(super) struct Place(Arc<Hub>, CallerKey);

/// What tells callers apart.
type CallerKey = (Means, String);

impl Drop for Place {
    fn drop(&mut self) {
        let Self(hub, key) = self;
        let mut open = hub.open_places();
        if let Some(count) = open.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                open.remove(key);
            }
        }
        drop(open);
        hub.left.send_replace(());
    }
}

impl Hub {
    pub(crate) fn new(connect: Connect, settings: Network) -> Arc<Self> {
        Arc::new(Self {
            settings,
            counters: Arc::default(),
            connect,
            by_id: Mutex::default(),
            open: Mutex::default(),
            stopping: watch::Sender::new(false),
            left: watch::Sender::new(()),
        })
    }

    /// The endpoint.
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        let endpoint = get(socket::get_or_stream)
            .post(http::post)
            .delete(http::delete);
        Router::new()
            .route(&self.settings.path, endpoint)
            .with_state(Arc::clone(self))
    }

    /// A place for one more connection of a caller, if there is one: among those of the caller
    /// first, and then among all.
    pub(super) fn place(self: &Arc<Self>, caller: &Caller) -> Option<Place> {
        let key = (caller.means, caller.name.clone());
        let mut open = self.open_places();
        let of_caller = open.get(&key).copied().unwrap_or_default();
        let all: usize = open.values().sum();
        let settings = &self.settings;
        if of_caller >= settings.caller_connections_max || all >= settings.connections_max {
            self.counters.overload.add();
            return None;
        }
        *open.entry(key.clone()).or_default() += 1;
        Some(Place(Arc::clone(self), key))
    }

    fn open_places(&self) -> MutexGuard<'_, HashMap<CallerKey, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all connections, and resolves when their agents have come to their ends.
    pub(crate) async fn stop(&self) {
        self.stopping.send_replace(true);
        let mut left = self.left.subscribe();
        let _ = left.wait_for(|()| self.open_places().is_empty()).await;
    }

    /// Resolves when all connections are to end.
    pub(super) async fn is_stopping(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender is our own, so it cannot be gone.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// An agent for one more client.
    pub(super) fn connect(
        &self,
        room: Arc<dyn Room>,
        caller: &Caller,
    ) -> (Channel, Option<ConnectionDriver>) {
        (self.connect)(room, Arc::clone(&self.counters), caller)
    }

    pub(super) fn add(&self, connection: &Arc<HttpConnection>) {
        let id = connection.id.clone();
        self.by_id().insert(id, Arc::clone(connection));
    }

    /// A connection, for whoever made it. For others there is none of that id.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<HttpConnection>> {
        let found = self.by_id().get(id).cloned()?;
        found.belongs_to(caller).then_some(found)
    }

    pub(super) fn remove(&self, id: &str) {
        self.by_id().remove(id);
    }

    #[cfg(test)]
    pub(super) fn http_connections(&self) -> usize {
        self.by_id().len()
    }

    fn by_id(&self) -> MutexGuard<'_, HashMap<String, Arc<HttpConnection>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
