//! All connections of a listener.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::{Channel, ConnectionDriver};
use axum::Router;
use axum::routing::get;
use harn_listen::Caller;
use tokio::sync::watch;

use super::connection::HttpConnection;
use super::{Network, http, socket};
use crate::frames::{Counters, Room};

/// An agent for one more client: its messages, and what runs it. It counts with the listener.
pub(crate) type Connect =
    Arc<dyn Fn(Arc<dyn Room>, Arc<Counters>) -> (Channel, Option<ConnectionDriver>) + Send + Sync>;

/// All connections of a listener.
pub(crate) struct Hub {
    pub(super) settings: Network,
    pub(super) counters: Arc<Counters>,
    connect: Connect,
    by_id: Mutex<HashMap<String, Arc<HttpConnection>>>,
    open: AtomicUsize,
    stopping: watch::Sender<bool>,
    /// A connection has come to its end.
    left: watch::Sender<()>,
}

/// The place of one connection among those there may be.
pub(super) struct Place(Arc<Hub>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.left.send_replace(());
    }
}

impl Hub {
    pub(crate) fn new(connect: Connect, settings: Network) -> Arc<Self> {
        Arc::new(Self {
            settings,
            counters: Arc::default(),
            connect,
            by_id: Mutex::default(),
            open: AtomicUsize::new(0),
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

    /// A place for one more connection, if there is one.
    pub(super) fn place(self: &Arc<Self>) -> Option<Place> {
        let max = self.settings.connections_max;
        let more = |open| (open < max).then_some(open + 1);
        let taken = self
            .open
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        match taken {
            Ok(_) => Some(Place(Arc::clone(self))),
            Err(_) => {
                self.counters.overload.add();
                None
            }
        }
    }

    /// Ends all connections, and resolves when their agents have come to their ends.
    pub(crate) async fn stop(&self) {
        self.stopping.send_replace(true);
        let mut left = self.left.subscribe();
        let _ = left
            .wait_for(|()| self.open.load(Ordering::Relaxed) == 0)
            .await;
    }

    /// Resolves when all connections are to end.
    pub(super) async fn is_stopping(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender is our own, so it cannot be gone.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// An agent for one more client.
    pub(super) fn connect(&self, room: Arc<dyn Room>) -> (Channel, Option<ConnectionDriver>) {
        (self.connect)(room, Arc::clone(&self.counters))
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
